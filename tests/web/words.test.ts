// What the page says in sentences, shows of a long table, and hands to other programs.
import assert from "node:assert/strict";
import { test } from "node:test";
import type {
  AuditFinding,
  Failure,
  LogEvent,
  RankMeasure,
  Reference,
  RunDetails,
  RunInsight,
  RunMetrics,
  Steps,
} from "../../web/src/api/types";
import { tableCsv, tableMarkdown } from "../../web/src/export_text";
import { earlierRoots, failureParts } from "../../web/src/failure_parts";
import { formatCause, formatInstant, formatSpeed, formatWorkload } from "../../web/src/format";
import { agreementWords } from "../../web/src/agreement_words";
import { insightSentences, ordinal } from "../../web/src/insight_words";
import {
  countableMarks,
  includableMarks,
  leftOutReasons,
  markWord,
  marksWords,
} from "../../web/src/mark_words";
import { otherMfu } from "../../web/src/mfu_words";
import { limitWords, outlookOf } from "../../web/src/outlook";
import { isFinal } from "../../web/src/final_problem";
import { rankName, rankQuantity, rankRange, rankValue } from "../../web/src/rank_words";
import { runsCountWords } from "../../web/src/runs_words";
import { fittingColumns } from "../../web/src/state/fitting_columns";
import { documentTables } from "../../web/src/state/reference_tables";
import { isHurried, rowLayout, visibleRows } from "../../web/src/state/virtual_rows";

const insight: RunInsight = {
  run_id: 1,
  segment: 0,
  window: null,
  timed_step_count: 50,
  reason: null,
  steady_step_time_s: 2,
  steady_step_time_s_deviation: 0.01,
  warm_up_last_iteration: 1,
  warm_up_step_count: 2,
  outlier_count: 6,
  outliers: [{ iteration: 17, step_time_s: 5, ratio: 2.5 }],
  periodic: {
    period: 10,
    first_iteration: 9,
    step_count: 4,
    step_time_s_median: 5,
    ratio: 2.5,
    time_share_lost: 0.13,
  },
  drift: null,
  memory_bytes_max: null,
  memory_bytes_max_iteration: null,
  memory_bytes_allocated_max: null,
};

test("insight is said in sentences, the most telling first", () => {
  const [periodic, outliers, warmUp, steady] = insightSentences(insight);
  assert.match(
    periodic ?? "",
    /^Every 10th step is slow: 4 steps of 2\.500 ×.*13\.0 % of the time/,
  );
  assert.match(outliers ?? "", /^6 outliers.*iteration 17 \(2\.500 ×\) and 5 more\.$/);
  assert.match(warmUp ?? "", /first 2 steps, up to iteration 1/);
  assert.match(steady ?? "", /2\.000 s \(deviation 0\.50 %\)/);
  assert.deepEqual([1, 2, 3, 11, 22].map(ordinal), ["1st", "2nd", "3rd", "11th", "22nd"]);
});

test("one step of warm-up is one", () => {
  const one = insightSentences({ ...insight, warm_up_step_count: 1, warm_up_last_iteration: 0 });
  assert.equal(one[2], "Warm-up: the first step, iteration 0, is slower.");
});

test("how many tools agree is said with what counts as agreeing", () => {
  const tool = (difference_to_ours: number | null) => ({
    gives_result: difference_to_ours !== null,
    difference_to_ours,
  });
  assert.equal(
    agreementWords([tool(0), tool(0.0002), tool(-0.01), tool(null)]),
    "1 of 3 tools that give a result reports a step time over 0.05 % from ours. 1 tool would give none.",
  );
  assert.match(agreementWords([tool(0.01), tool(0.02)]), /^2 of 2 tools that give a result report a/);
  assert.equal(
    agreementWords([tool(0), tool(0.0004)]),
    "Both tools that give a result agree with ours, within 0.05 %.",
  );
  assert.equal(agreementWords([tool(0)]), "The one tool that gives a result agrees with ours, within 0.05 %.");
  assert.match(agreementWords([tool(0), tool(0), tool(0)]), /^All 3 tools that give a result agree/);
  assert.match(agreementWords([tool(0.1)]), /^The one tool that gives a result reports a step time/);
  assert.equal(agreementWords([tool(null)]), "No known tool gives a result for this log.");
  const withoutOurs = { ...tool(0), difference_to_ours: null };
  assert.match(agreementWords([withoutOurs, tool(null)]), /^We have no step time over this window/);
});

test("a slow change over the run is said with its direction", () => {
  const drift = { first_iteration: 5, last_iteration: 400, relative_change: 0.1, p_value: 1e-6 };
  const slower = insightSentences({ ...insight, periodic: null, drift });
  assert.match(slower[0] ?? "", /become slowly slower: by 10\.0 % from iteration 5 to 400\.$/);
  const faster = insightSentences({ ...insight, drift: { ...drift, relative_change: -0.02 } });
  assert.match(faster[1] ?? "", /become slowly faster: by 2\.0 %/);
});

test("too few steps are said to be so", () => {
  const none = { ...insight, reason: "3 steps", steady_step_time_s: null, periodic: null };
  const sentences = insightSentences({
    ...none,
    warm_up_step_count: null,
    outlier_count: null,
  });
  assert.deepEqual(sentences, ["3 steps"]);
});

test("a running run is told when it reaches its window and its end", () => {
  const run = {
    status: "running",
    segment: 0,
    segments: [] as unknown,
    window: "11-44",
    last_iteration: 20,
    declared_last_iteration: 49,
    grown_at: "2026-01-01T00:00:00Z",
  } as RunDetails;
  const steps = { segment: [0, 1, 1], step_time_s: [99, 10, 10] } as unknown as Steps;
  const outlook = outlookOf(run, steps, Date.parse("2026-01-01T00:00:04Z"));
  assert.equal(outlook?.paceS, 10);
  assert.equal(outlook?.window?.inSeconds, 240 - 4);
  assert.equal(outlook?.end?.inSeconds, 290 - 4);
  assert.equal(outlookOf({ ...run, status: "complete" }, steps, 0), null);
  const past = outlookOf({ ...run, last_iteration: 45 }, steps, Date.parse(run.grown_at));
  assert.equal(past?.window?.isReached, true);
  const limitedAt = (limit_ends_at: string | null) => {
    const job = { id: 1, state: "running", trouble: null, limit_ends_at } as RunDetails["job"];
    const limited = outlookOf({ ...run, job }, steps, Date.parse("2026-01-01T00:00:04Z"));
    return limited ? limitWords(limited, "utc") : "no outlook";
  };
  assert.equal(limitedAt(null), "");
  assert.equal(
    limitedAt("2026-01-01T00:02:55Z"),
    "At this pace its job's time limit, at 00:02 UTC, ends it at about iteration 37, " +
      "before its window does (44): it will not be complete.",
  );
  assert.match(limitedAt("2026-01-01T00:04:05Z"), /about iteration 44: its window \(to 44\) will be/);
  assert.match(limitedAt("2026-01-01T00:04:50Z"), /^At this pace it ends before its job's time limit/);
  assert.match(limitedAt("2025-12-31T23:59:00Z"), /about iteration 20, before/, "it is past");
});

test("a long table holds the rows on the screen and some around it", () => {
  const middle = visibleRows(58 * 5_000, 900, 58, 10_000, 12);
  assert.deepEqual(middle, { first: 4_988, end: 5_028 });
  assert.deepEqual(visibleRows(58 * 5_000, 900, 58, 10_000, 1), { first: 4_999, end: 5_017 });
  assert.deepEqual(visibleRows(-300, 900, 58, 3, 12), { first: 0, end: 3 });
  assert.deepEqual(visibleRows(1e9, 900, 58, 100, 12), { first: 100, end: 100 });
});

test("rows beside the screen wait while whole screens go by", () => {
  assert.equal(isHurried(-58, 900), false);
  assert.equal(isHurried(810, 900), true); // Page Down
  assert.equal(isHurried(-1_900, 900), true);
  assert.equal(isHurried(Infinity, 900), true); // the first view
});

test("rows are cards on a phone alone, with a place for each cell", () => {
  for (const width of [700, 768, 1024]) assert.equal(rowLayout(width, 20).isCards, false);
  const cards = rowLayout(320, 5);
  assert.ok(rowLayout(320, 7).rowHeight > cards.rowHeight, "seven cells need a fourth line");
  assert.equal(cards.isCards, true);
  assert.equal(cards.cardColumns, 2);
});

test("where columns do not fit, those that are needed least go first, and the order stays", () => {
  const columns = [
    { key: "a", width: 100, need: 1 },
    { key: "b", width: 300, need: 9 },
    { key: "c", width: 100, need: 5 },
    { key: "d", width: 20, need: 0 },
  ];
  const fitting = (available: number) =>
    fittingColumns(columns, available, ({ need }) => need)
      .map(({ key }) => key)
      .join("");
  assert.equal(fitting(520), "abcd");
  assert.equal(fitting(519), "abc");
  assert.equal(fitting(499), "bc");
  assert.equal(fitting(430), "bc", "no narrower one in the place of a");
  assert.equal(fitting(200), "b");
});

test("exported tables are safe to open", () => {
  assert.equal(tableMarkdown(["a|b"], [["x\ny"]]), "| a\\|b |\n|---|\n| x y |\n");
  assert.equal(tableCsv(["a"], [["=1+1"], ["-3.5"], ['q"']]), 'a\r\n\'=1+1\r\n-3.5\r\n"q"""\r\n');
});

test("a finding stands at its cell; what has none stands beside the table", () => {
  const reference = {
    workload: "w",
    model_size: "1b",
    dtype: "bf16",
    gpu_type: "h100",
    gpu_count: 8,
    document: "d",
    release: "1",
    source: null,
  } as Reference;
  const finding = (changes: Partial<AuditFinding>) =>
    ({
      document: "d",
      row: "w 1b bf16, 8 h100",
      column: 1,
      line: 3,
      quantity: "mfu_percent",
      ...changes,
    }) as AuditFinding;
  const [table] = documentTables(
    [reference],
    [finding({}), finding({ quantity: "gpu_count", column: 0 }), finding({ row: "elsewhere" })],
  );
  assert.equal(table?.rows[0]?.findings.length, 1);
  assert.equal(table?.others.length, 2);
  assert.equal(table?.findingCount, 3);
});

test("words for speeds, causes, workloads and times", () => {
  assert.equal(formatSpeed(0.985), "1.5 % slower");
  assert.equal(formatSpeed(1.0001), "equal");
  assert.equal(formatCause("cuda_oom"), "CUDA out of memory");
  assert.equal(formatWorkload("pretrain_grok1"), formatWorkload("grok1"));
  assert.equal(formatInstant("2026-01-02T03:04:05Z", "utc"), "2026-01-02 03:04");
});

const failed = (
  role: LogEvent["role"],
  cause: string,
  offset: number,
  rank: number | null = null,
  attempt = 1,
): LogEvent => ({
  kind: role === null ? "finish_marker" : "failure",
  cause,
  line: `${cause} at ${offset}`,
  offset,
  steps_before: 10,
  rank,
  operation: null,
  role,
  attempt,
});

test("failures are told root first, alike ones once, and those of other attempts apart", () => {
  const events = [
    failed("root", "node_failure", 5, null, 0),
    failed("survived", "nccl_error", 10),
    failed("symptom", "python_traceback", 20, 3),
    failed("root", "cuda_oom", 30, 3),
    failed("symptom", "task_killed", 40, 7),
    failed("cascade", "nccl_timeout", 50, 8),
    failed("cascade", "nccl_timeout", 60, 9),
    failed(null, "training_done", 70),
  ];
  const failure: Failure = {
    cause: "cuda_oom",
    advice: null,
    line: "x",
    offset: 30,
    steps_before: 10,
    rank: 3,
    node: null,
    operation: null,
    data_is_valid: false,
    followed_by: [],
  };
  const parts = failureParts(events, failure);
  assert.deepEqual(
    parts.map(({ role, cause, count, ranks, offset }) => [role, cause, count, ranks, offset]),
    [
      ["root", "cuda_oom", 1, [3], 30],
      ["cascade", "nccl_timeout", 2, [8, 9], 50],
      ["symptom", "python_traceback", 1, [3], 20],
      ["symptom", "task_killed", 1, [7], 40],
    ],
  );
  assert.deepEqual(
    earlierRoots(events, failure).map(({ cause }) => cause),
    ["node_failure"],
  );
  const hung = failureParts(events, { ...failure, cause: "hung", line: null, offset: null });
  assert.equal(hung.length, 4);
});

const measure: RankMeasure = {
  source: "straggler_detector",
  quantity: "round_trip_time",
  unit: "s",
  place: "highest",
  rank: 76,
  node: null,
  is_of_other_ranks: false,
  count: 3,
  value_mean: 0.76025,
  value_min: 0.75,
  value_max: 0.775,
  offset: 4096,
};

test("what a log says of its ranks is named and has its unit", () => {
  assert.equal(rankQuantity(measure), "round trip time");
  assert.equal(rankQuantity({ ...measure, source: "timers", quantity: "all_sync" }), "all_sync");
  assert.match(rankQuantity({ ...measure, quantity: "gpu_relative_performance" }), /best rank/);
  assert.equal(rankName(measure), "76");
  assert.equal(rankName({ ...measure, rank: null }), "all ranks");
  assert.equal(rankName({ ...measure, rank: null, is_of_other_ranks: true }), "others");
  assert.equal(rankValue(0.7625, "s"), "0.7625 s");
  assert.equal(rankValue(0.94, "1"), "94.0 %");
  assert.equal(rankValue(1.98e9, "Hz"), "1,980 MHz");
  assert.equal(rankValue(3.715e11, "B/s"), "371.5 GB/s");
  assert.equal(rankValue(52, "°C"), "52.00 °C");
  assert.equal(rankValue(null, "1"), "–");
  assert.equal(rankRange(measure), "0.7500 s, 0.7750 s");
  assert.equal(rankRange({ ...measure, value_min: 0.775 }), "–");
});

test("a run that is left out says its own reason, and no other's", () => {
  const run = { marks: ["proxy"], status: "complete", status_reason: "all is there" } as const;
  const reasons = (changes: Partial<Pick<RunDetails, "marks" | "status">>) =>
    leftOutReasons({ ...run, marks: [...run.marks], ...changes });
  assert.deepEqual(reasons({}), [
    "It is a proxy: it has fewer layers than its model, and its speed is not the model's.",
  ]);
  assert.deepEqual(reasons({ marks: [] }), []);
  const beyond = reasons({ marks: ["implausible"] }).join();
  assert.match(beyond, /more than the GPU can do: its MFU is above 100 %/);
  assert.equal(markWord("implausible"), "implausible");
  assert.match(reasons({ marks: [], status: "failed" }).join(), /^It is no complete run: all is/);
  assert.equal(marksWords(["failed", "on_cpu"]), "failed and on CPU");
  assert.equal(marksWords([]), "without what their speed takes");
});

test("only marks of complete runs are offered to be counted together", () => {
  const marked = (...marks: string[]) => ({ marks: marks.map((mark) => ({ mark })) }) as never;
  assert.deepEqual(
    countableMarks([marked("proxy", "profiled"), marked("proxy"), marked("failed", "traced")]),
    ["proxy", "profiled"],
  );
  assert.deepEqual(countableMarks([marked("running"), marked("superseded"), marked()]), []);
});

test("a mark is offered where a run has what is counted beside it", () => {
  const run = (speed: number | null, ...marks: string[]) =>
    ({ speed, marks: marks.map((mark) => ({ mark })) }) as never;
  const offered = (...runs: never[]) =>
    includableMarks(runs as { speed: number | null; marks: [] }[], ({ speed }) => speed !== null);
  assert.deepEqual(offered(run(null, "failed", "no_data"), run(3, "traced")), ["traced"]);
  assert.deepEqual(offered(run(2, "failed"), run(3, "failed", "proxy")), ["failed", "proxy"]);
  assert.deepEqual(offered(run(null, "failed")), []);
});

test("MFU by other ways is told where it has a value, and another one than the document's", () => {
  const metric = (formula: string, value: number | null) =>
    ({ value, unit: "1", reason: null, formula, inputs: [] }) as const;
  const words = (shown: [string, number | null], causal: number | null = null) =>
    otherMfu({
      mfu: metric(...shown),
      mfu_model_flops_reference: metric("by model FLOPs", 0.4123),
      mfu_tflops_per_gpu: metric("by TFLOPS", 0.3811),
      mfu_causal: metric("causal", causal),
    } as unknown as RunMetrics["metrics"]);
  assert.equal(words(["by model FLOPs", 0.4123]), "38.1 % by the logged TFLOPS");
  assert.equal(
    words(["by TFLOPS", 0.3811], 0.35),
    "41.2 % by model FLOPs, 35.0 % with attention counted half",
  );
  assert.equal(words(["its own", 0.41228]), "38.1 % by the logged TFLOPS", "the same as shown");
  assert.equal(words(["its own", null]), "41.2 % by model FLOPs, 38.1 % by the logged TFLOPS");
});

test("the count of runs says on paper how many of them it has", () => {
  const all = { total: 520, isTotalExact: true, isFiltered: false };
  assert.equal(runsCountWords(all), "520 runs");
  assert.equal(runsCountWords({ ...all, printed: 100 }), "the first 100 of 520 runs");
  assert.equal(runsCountWords({ ...all, printed: 520 }), "520 runs");
  assert.equal(
    runsCountWords({ ...all, isTotalExact: false, isFiltered: true, printed: 100 }),
    "the first 100 of more than 520 matching runs",
  );
  assert.equal(runsCountWords({ ...all, total: 1 }), "1 run");
});

test("to ask again is offered where it can change the answer", () => {
  const offered = (isPage: boolean) =>
    [0, 400, 404, 410, 500, 503].filter((status) => !isFinal(status, isPage));
  assert.deepEqual(offered(true), [0, 500, 503]);
  assert.deepEqual(offered(false), [0, 400, 404, 500, 503]);
});
