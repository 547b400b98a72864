// The board outside the page: its cells as a picture, and its count as a badge. The words of a state
// stand in both, so that colour is never needed alone.
import { formatNumber } from "../format";
import { gpusOf, otherwiseOf, type BoardCell, type BoardRow } from "../state/board";
import { kAim, kCellStates, kStateMeanings, kStateWords, type CellState } from "../state/standing";

const kName = 250; // px of the row's name
const kCell = { width: 132, height: 70, gap: 8 };
const kPerRow = 6;
const kEdge = 20;
const kHead = 54; // px of the title and of what is shown, with the gap below
const kLegendLine = 20;

const kColours: Record<CellState, string> = {
  met: "--ok",
  undecided: "--run",
  near: "--warn",
  below: "--warn",
  running: "--run",
  failed: "--bad",
  incomplete: "--warn",
  invalid: "--bad",
  missing: "--rule-strong",
  unjudged: "--rule",
};

type IsStale = (cell: BoardCell) => boolean;

const kWithRuns: CellState[] = ["running", "failed", "incomplete", "invalid"]; // none that counts

const linesOf = (row: BoardRow) => Math.ceil(row.cells.length / kPerRow);
const heightOf = (row: BoardRow) => linesOf(row) * (kCell.height + kCell.gap) + kCell.gap;

// Of a picture or a badge, which leave the page that says it.
export interface BoardScope {
  // What the rows were chosen by, in words: "grok1", "gb200"; empty: every published result.
  chosen: readonly string[];
  cluster: string | null; // of all rows; null: they name their own, or none is known
  madeOn: string; // a day
  server: string;
}

// "cluster eos, grok1, gb200, on 2026-02-01, by llmb.example"
export function scopeWords({ chosen, cluster, madeOn, server }: BoardScope): string {
  const of = chosen.length > 0 ? chosen : ["every published result"];
  return [cluster && `cluster ${cluster}`, ...of, `on ${madeOn}`, `by ${server}`]
    .filter(Boolean)
    .join(", ");
}

// What the words of the states in it mean.
export function legendLines(rows: readonly BoardRow[], isStale: IsStale): string[] {
  const cells = rows.flatMap((row) => row.cells);
  const used = kCellStates.filter((state) =>
    cells.some((cell) => cell.state === state || (state === "running" && cell.isRunning)),
  );
  const lines = used.map((state) => `${kStateWords[state]}: ${kStateMeanings[state]}`);
  return cells.some(isStale) ? [...lines, "stale: the newest run is old"] : lines;
}

function drawLines(
  context: CanvasRenderingContext2D,
  lines: readonly string[],
  top: number,
  width: number,
): void {
  lines.forEach((line, at) => context.fillText(line, kEdge, top + (at + 1) * kLegendLine, width));
}

export function boardPicture(
  rows: readonly BoardRow[],
  isStale: IsStale,
  scope: BoardScope,
  scale = 2,
): HTMLCanvasElement {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string) => style.getPropertyValue(name).trim();
  const width = 2 * kEdge + kName + kPerRow * (kCell.width + kCell.gap);
  const legend = legendLines(rows, isStale);
  const ofRows = rows.reduce((sum, row) => sum + heightOf(row), 0);
  const height = 2 * kEdge + kHead + ofRows + (legend.length + 1) * kLegendLine;
  const canvas = document.createElement("canvas");
  canvas.width = width * scale;
  canvas.height = height * scale;
  const context = canvas.getContext("2d");
  if (!context) return canvas;
  context.scale(scale, scale);
  context.fillStyle = colour("--text");
  context.font = "600 17px system-ui, sans-serif";
  context.fillText(`LLM speed against the published, aim ${kAim} ×`, kEdge, kEdge + 14);
  context.fillStyle = colour("--text-muted");
  context.font = "13px system-ui, sans-serif";
  context.fillText(scopeWords(scope), kEdge, kEdge + 36, width - 2 * kEdge);
  let top = kEdge + kHead;
  for (const row of rows) {
    context.fillStyle = colour("--text");
    context.font = "600 14px system-ui, sans-serif";
    context.fillText(row.name, kEdge, top + 20, kName - 10);
    context.fillStyle = colour("--text-muted");
    context.font = "13px system-ui, sans-serif";
    const where = [row.gpuType, row.cluster].filter((part) => part !== null).join(", ");
    context.fillText(where, kEdge, top + 38, kName - 10);
    row.cells.forEach((cell, at) => {
      const left = kEdge + kName + (at % kPerRow) * (kCell.width + kCell.gap);
      const y = top + Math.floor(at / kPerRow) * (kCell.height + kCell.gap);
      drawCell(context, cell, isStale(cell), left, y, colour);
    });
    top += heightOf(row);
  }
  context.fillStyle = colour("--text-muted");
  context.font = "12px system-ui, sans-serif";
  drawLines(context, legend, top, width - 2 * kEdge);
  return canvas;
}

function drawCell(
  context: CanvasRenderingContext2D,
  cell: BoardCell,
  isStale: boolean,
  left: number,
  top: number,
  colour: (name: string) => string,
): void {
  context.strokeStyle = colour(kColours[cell.state]);
  context.lineWidth = 1.5;
  context.strokeRect(left, top, kCell.width, kCell.height);
  context.fillStyle = colour("--text-muted");
  context.font = "12px system-ui, sans-serif";
  const isRunning = cell.isRunning && cell.state !== "running";
  const beside = [gpusOf(cell), isRunning && "running", isStale && "stale"].filter(Boolean);
  context.fillText(beside.join(", "), left + 10, top + 20, kCell.width - 20);
  const isMuted = !cell.standing && !kWithRuns.includes(cell.state);
  context.fillStyle = colour(isMuted ? "--text-muted" : "--text");
  context.font = "600 13px system-ui, sans-serif";
  const speed = cell.standing ? `  ${formatNumber(cell.standing.speed)} ×` : "";
  context.fillText(`${kStateWords[cell.state]}${speed}`, left + 10, top + 40, kCell.width - 20);
  const otherwise = otherwiseOf(cell);
  if (!otherwise) return;
  context.fillStyle = colour("--text-muted");
  context.font = "12px system-ui, sans-serif";
  context.fillText(`earlier: ${otherwise}`, left + 10, top + 58, kCell.width - 20);
}

// "0.95 × the published LLM speed of grok1, gb200"
function labelOf({ chosen }: BoardScope): string {
  const of = chosen.length > 0 ? ` of ${chosen.join(", ")}` : "";
  return `${kAim} × the published LLM speed${of}`;
}

function escaped(text: string): string {
  const names: Record<string, string> = { "&": "amp", "<": "lt", ">": "gt", '"': "quot" };
  return text.replace(/[&<>"]/g, (one) => `&${names[one]};`);
}

const kBadgeColours = { whole: "#176b3a", part: "#0d5f57", stale: "#1b57b5" };

interface MetCounts {
  judged: number;
  met: number;
  stale: number; // of those that are met
}

function metCounts(rows: readonly BoardRow[], isStale: IsStale): MetCounts {
  const judged = rows.flatMap((row) => row.cells).filter(({ state }) => state !== "unjudged");
  const met = judged.filter(({ state }) => state === "met");
  return { judged: judged.length, met: met.length, stale: met.filter(isStale).length };
}

// "met by 5 of 44, 2 of them stale"
function metWords({ judged, met, stale }: MetCounts): string {
  return `met by ${met} of ${judged}${stale > 0 ? `, ${stale} of them stale` : ""}`;
}

function badgeColour({ judged, met, stale }: MetCounts): string {
  if (met > 0 && stale === met) return kBadgeColours.stale;
  return met === judged ? kBadgeColours.whole : kBadgeColours.part;
}

// An SVG of two fields, "0.95 × the published LLM speed | met by 5 of 44 on 2026-02-01"; where
// clusters are named "eos: met by 5 of 44, polaris: met by 2 of 44 on …".
export function boardBadge(rows: readonly BoardRow[], isStale: IsStale, scope: BoardScope): string {
  const clusters = [...new Set(rows.map(({ cluster }) => cluster))];
  const told = clusters.map((cluster) => {
    const of = metCounts(rows.filter((row) => row.cluster === cluster), isStale);
    const name = cluster ?? scope.cluster;
    return name === null ? metWords(of) : `${name}: ${metWords(of)}`;
  });
  const all = metCounts(rows, isStale);
  const value = `${told.join(", ") || metWords(all)} on ${scope.madeOn}`;
  const label = labelOf(scope);
  const labelWidth = 7 * label.length + 14;
  const valueWidth = 7 * value.length + 18;
  const text = (x: number, words: string) =>
    `<text x="${x}" y="14" fill="#fff" text-anchor="middle" ` +
    `font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">${escaped(words)}</text>`;
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${labelWidth + valueWidth}" height="20" ` +
    `role="img" aria-label="${escaped(`${label}: ${value}`)}">` +
    `<rect width="${labelWidth}" height="20" fill="#3d4540"/>` +
    `<rect x="${labelWidth}" width="${valueWidth}" height="20" ` +
    `fill="${badgeColour(all)}"/>` +
    `${text(labelWidth / 2, label)}${text(labelWidth + valueWidth / 2, value)}</svg>\n`
  );
}
