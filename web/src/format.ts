// The only place that turns a number of the API into text: step_time_s_mean into "7.382 s".
// Everything here is pure; what is unknown becomes an en dash.

export const kUnknown = "–";

type Maybe = number | null | undefined;

function isNumber(value: Maybe): value is number {
  return typeof value === "number" && Number.isFinite(value);
}

const groupings = new Map<number, Intl.NumberFormat>();

// Fixed decimals with grouped thousands.
function fixed(value: number, decimals: number): string {
  let format = groupings.get(decimals);
  if (!format) {
    format = new Intl.NumberFormat("en-US", {
      minimumFractionDigits: decimals,
      maximumFractionDigits: decimals,
    });
    groupings.set(decimals, format);
  }
  return format.format(value);
}

// Decimals that leave four significant digits: what the logs print, and no more.
export function decimalsFor(value: number): number {
  if (value === 0 || !Number.isFinite(value)) return 3;
  // Of the rounded number: 0.99996 is shown as 1.000.
  const magnitude = Math.floor(Math.log10(Math.abs(Number(value.toPrecision(4)))));
  return Math.min(Math.max(3 - magnitude, 0), 6);
}

export function formatNumber(value: Maybe): string {
  return isNumber(value) ? fixed(value, decimalsFor(value)) : kUnknown;
}

// As it was printed: no digit more, grouped.
export function formatPrinted(value: Maybe): string {
  return isNumber(value) ? value.toLocaleString("en-US", { maximumFractionDigits: 6 }) : kUnknown;
}

export function formatCount(value: Maybe): string {
  return isNumber(value) ? fixed(value, 0) : kUnknown;
}

export function formatSeconds(value: Maybe): string {
  return isNumber(value) ? `${formatNumber(value)} s` : kUnknown;
}

// "7.382 ± 0.014": the deviation is as fine as the mean, so that the two line up.
export function formatMeanDeviation(mean: Maybe, deviation: Maybe, unit = ""): string {
  if (!isNumber(mean)) return kUnknown;
  const parts = [formatNumber(mean), formatDeviation(mean, deviation), unit];
  return parts.filter(Boolean).join(" ");
}

// "± 0.014" for that mean; empty where either is unknown.
export function formatDeviation(mean: Maybe, deviation: Maybe): string {
  if (!isNumber(mean) || !isNumber(deviation)) return "";
  return `± ${fixed(deviation, decimalsFor(mean))}`;
}

const kTickDecimals = 6;
const kTickDigits = 8; // of scientific notation

// The labels of an axis: as many decimals as tell its ticks apart, the same for all; a tick that is
// alone has those of its own value. Where they are too small for that ("3e-7"), as many digits.
export function formatTicks(ticks: readonly number[]): string[] {
  const [first = 0, second = 0] = ticks;
  const step = Math.abs(second - first); // of one alone its distance from nothing
  const largest = Math.max(...ticks.map(Math.abs));
  if (largest > 0 && largest < 1e-3 && step < 10 ** -kTickDecimals) {
    return scientificTicks(ticks, step);
  }
  let decimals = 0;
  const isWhole = (value: number) => Math.abs(value - Math.round(value)) < 1e-6 * value;
  while (step > 0 && decimals < kTickDecimals && !isWhole(step * 10 ** decimals)) decimals += 1;
  return ticks.map((tick) => fixed(tick, decimals));
}

function scientificTicks(ticks: readonly number[], step: number): string[] {
  // What binary fractions leave of nothing is nothing.
  const isZero = (tick: number) => Math.abs(tick) < 1e-6 * step;
  const texts = (digits: number) => ticks.map((tick) => tick.toExponential(digits));
  let digits = 0;
  const isExact = (text: string, at: number) =>
    Math.abs(Number(text) - (ticks[at] ?? 0)) < 1e-3 * step;
  while (digits < kTickDigits && !texts(digits).every(isExact)) digits += 1;
  return texts(digits).map((text, at) => (isZero(ticks[at] ?? 0) ? "0" : text));
}

// Any magnitude, for loss, gradient norm and learning rate.
export function formatScientific(value: Maybe): string {
  if (!isNumber(value)) return kUnknown;
  if (value === 0) return "0";
  const magnitude = Math.abs(value);
  if (magnitude >= 1e-3 && magnitude < 1e6) return formatNumber(value);
  return value.toExponential(3);
}

export function formatBytes(value: Maybe): string {
  if (!isNumber(value)) return kUnknown;
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let scaled = value;
  let unit = 0;
  while (scaled >= 1024 && unit < units.length - 1) {
    scaled /= 1024;
    unit += 1;
  }
  const text = unit === 0 || scaled >= 100 ? fixed(scaled, 0) : fixed(scaled, 1);
  return `${text} ${units[unit]}`;
}

export function formatProgress(last: Maybe, declared: Maybe): string {
  if (!isNumber(last)) return kUnknown;
  return isNumber(declared) ? `${formatCount(last)} / ${formatCount(declared)}` : formatCount(last);
}

// 0 to 1, or null where the log does not say how far it means to go.
export function progressFraction(last: Maybe, declared: Maybe): number | null {
  if (!isNumber(last) || !isNumber(declared) || declared <= 0) return null;
  return Math.min(Math.max(last / declared, 0), 1);
}

export function formatPlural(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}

const kTwo = (part: number) => String(part).padStart(2, "0");

export type Zone = "local" | "utc";

// To the minute; formatUtc, to the second, is for the tooltip.
export function formatInstant(instant: string | null, zone: Zone): string {
  const date = parseInstant(instant);
  if (!date) return kUnknown;
  if (zone === "utc") return date.toISOString().slice(0, 16).replace("T", " ");
  const day = `${date.getFullYear()}-${kTwo(date.getMonth() + 1)}-${kTwo(date.getDate())}`;
  return `${day} ${kTwo(date.getHours())}:${kTwo(date.getMinutes())}`;
}

// Where the time of day says nothing.
export function formatDay(instant: string | null, zone: Zone): string {
  return formatInstant(instant, zone).slice(0, 10);
}

// The time of day alone where that is of today. Beyond all dates it is not known.
export function formatClock(ms: number, zone: Zone, nowMs: number): string {
  const date = new Date(ms);
  if (Number.isNaN(date.getTime())) return kUnknown;
  const text = formatInstant(date.toISOString(), zone);
  const isToday = text.slice(0, 10) === formatDay(new Date(nowMs).toISOString(), zone);
  return `${isToday ? text.slice(11) : text}${zone === "utc" ? " UTC" : ""}`;
}

export function formatUtc(instant: string | null): string {
  const date = parseInstant(instant);
  return date ? `${date.toISOString().slice(0, 19).replace("T", " ")} UTC` : "not known";
}

export function parseInstant(instant: string | null): Date | null {
  if (!instant) return null;
  const date = new Date(instant);
  return Number.isNaN(date.getTime()) ? null : date;
}

// The day alone of what is long ago.
export function formatAgo(instant: string | null, nowMs: number, zone: Zone): string {
  const date = parseInstant(instant);
  if (!date) return kUnknown;
  const seconds = Math.max(0, Math.round((nowMs - date.getTime()) / 1000));
  if (seconds < 10) return "just now";
  if (seconds < 60) return `${Math.floor(seconds / 10) * 10} s ago`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ago`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours} h ago`;
  const days = Math.floor(hours / 24);
  return days < 60 ? `${days} d ago` : formatDay(instant, zone);
}

// A span of time that nobody wants to the second: "45 s", "12 min", "3 h".
export function formatSpan(seconds: Maybe): string {
  if (!isNumber(seconds)) return kUnknown;
  if (seconds < 90) return `${fixed(seconds, 0)} s`;
  if (seconds < 90 * 60) return `${fixed(seconds / 60, 0)} min`;
  return `${fixed(seconds / 3600, seconds < 36_000 ? 1 : 0)} h`;
}

// 0.0123 as "+1.2 %"; what rounds to nothing has no sign.
export function formatRelative(value: Maybe, decimals = 2): string {
  if (!isNumber(value)) return kUnknown;
  const text = fixed(Math.abs(100 * value), decimals);
  const isNothing = Number(text.replaceAll(",", "")) === 0;
  return `${isNothing ? "" : value > 0 ? "+" : "−"}${text} %`;
}

// A ratio of speeds in words: 0.985 is "1.5 % slower", 1.02 "2.0 % faster".
export function formatSpeed(ratio: Maybe): string {
  if (!isNumber(ratio)) return kUnknown;
  const text = fixed(Math.abs(100 * (ratio - 1)), 1);
  if (Number(text.replaceAll(",", "")) === 0) return "equal";
  return `${text} % ${ratio < 1 ? "slower" : "faster"}`;
}

export function formatPercent(fraction: Maybe, decimals = 1): string {
  return isNumber(fraction) ? `${fixed(100 * fraction, decimals)} %` : kUnknown;
}

// Trees, configuration files and documents name one workload with and without its prefix.
export function formatWorkload(workload: string | null): string {
  return workload === null ? kUnknown : workload.replace(/^pretrain_/, "");
}

const kVariable = /^[A-Z][A-Z0-9]*(_[A-Z0-9]+)+$/;
const kVariablePath = /(?:^|\.)env_overrides\.([^.]+)$/;

// The name that must stand as it was written, because somebody sets it by that name: a variable of
// the environment, or the path of a value in a file. Null of a key that is words.
export function writtenName(key: string): string | null {
  const variable = kVariablePath.exec(key)?.[1];
  if (variable) return variable;
  return kVariable.test(key) || key.includes(".") ? key : null;
}

// "expert_tensor_parallel" reads as "expert tensor parallel", and
// "job_config.env_overrides.NCCL_ALGO" as "NCCL_ALGO".
export function formatKey(key: string): string {
  return writtenName(key) ?? key.replaceAll("_", " ");
}

const kSources: Record<string, string> = {
  llmb_config: "llmb-config file",
  experiment_name: "experiment name",
  path: "path",
  log_content: "log",
};

export function formatSource(source: string): string {
  return kSources[source] ?? formatKey(source);
}

const kDialects: Record<string, string> = {
  unknown: "not recognised",
  nemo: "NeMo 2",
  nemo_progress_bar: "NeMo progress bar",
  megatron_bridge: "Megatron-Bridge",
  megatron_lm: "Megatron-LM",
  maxtext: "MaxText",
  torchtitan: "torchtitan",
  neuronx: "NeuronX",
  hf_trainer: "HF Trainer",
  deepspeed: "DeepSpeed",
  mlperf: "MLPerf",
  verl: "verl",
  nemo_rl: "NeMo-RL",
  automodel: "NeMo Automodel",
  nanotron: "nanotron",
  utf_16: "UTF-16, not read",
  compressed: "compressed, not read",
  binary: "no text",
};

// What is no dialect, because its bytes are no text that is read.
export const kDialectsNotRead: readonly string[] = ["utf_16", "compressed", "binary"];

export function formatDialect(dialect: string): string {
  return kDialects[dialect] ?? formatKey(dialect);
}

// Where a long experiment name may break: before its parallel layout.
export function splitExperiment(name: string): [string, string] {
  const at = name.search(/_tp\d/);
  return at > 0 ? [name.slice(0, at), name.slice(at)] : [name, ""];
}

// The folders that tell a log apart whose file's name is all that its run is called by (run.log in
// every folder); empty where a folder has the run's name.
export function tellingFolders(experiment: string, path: string): string {
  const folders = path.split("/").slice(0, -1);
  return folders.includes(experiment) ? "" : folders.slice(-2).join("/");
}

const kAcronyms = new Set(["cuda", "cudnn", "ecc", "gpu", "ib", "mpi", "nccl", "nvlink", "xid"]);
const kCauseWords: Record<string, string> = {
  oom: "out of memory",
  nan: "NaN",
  hf: "Hugging Face",
  gloo: "Gloo",
  python: "Python",
};

// A class of failure in words: cuda_oom as "CUDA out of memory".
export function formatCause(cause: string): string {
  return cause
    .split("_")
    .map((word) => kCauseWords[word] ?? (kAcronyms.has(word) ? word.toUpperCase() : word))
    .join(" ");
}
