// The board outside the page: its cells as a picture, and its count as a badge. The words of a state
// stand in both, so that colour is never needed alone.
import { formatNumber } from "../format";
import { gpusOf, otherwiseOf, type BoardCell, type BoardRow } from "../state/board";
import { kAim, kStateWords, type CellState } from "../state/standing";

const kName = 250; // px of the row's name
const kCell = { width: 132, height: 70, gap: 8 };
const kPerRow = 6;
const kEdge = 20;

const kColours: Record<CellState, string> = {
  met: "--ok",
  undecided: "--run",
  near: "--warn",
  below: "--warn",
  running: "--run",
  failed: "--bad",
  invalid: "--bad",
  missing: "--rule-strong",
  unjudged: "--rule",
};

type IsStale = (cell: BoardCell) => boolean;

const kWithRuns: CellState[] = ["running", "failed", "invalid"]; // though none that counts

const linesOf = (row: BoardRow) => Math.ceil(row.cells.length / kPerRow);
const heightOf = (row: BoardRow) => linesOf(row) * (kCell.height + kCell.gap) + kCell.gap;

export function boardPicture(
  rows: readonly BoardRow[],
  isStale: IsStale,
  scale = 2,
): HTMLCanvasElement {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string) => style.getPropertyValue(name).trim();
  const width = 2 * kEdge + kName + kPerRow * (kCell.width + kCell.gap);
  const height = 2 * kEdge + rows.reduce((sum, row) => sum + heightOf(row), 0);
  const canvas = document.createElement("canvas");
  canvas.width = width * scale;
  canvas.height = height * scale;
  const context = canvas.getContext("2d");
  if (!context) return canvas;
  context.scale(scale, scale);
  let top = kEdge;
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
  const gpus = isStale ? `${gpusOf(cell)}, stale` : gpusOf(cell);
  context.fillText(gpus, left + 10, top + 20, kCell.width - 20);
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

const kLabel = `${kAim} × the published LLM speed`;

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
// clusters are named "eos: met by 5 of 44, polaris: met by 2 of 44 on …". `madeOn`: a day.
export function boardBadge(rows: readonly BoardRow[], isStale: IsStale, madeOn: string): string {
  const clusters = [...new Set(rows.map(({ cluster }) => cluster))];
  const told = clusters.map((cluster) => {
    const of = metCounts(rows.filter((row) => row.cluster === cluster), isStale);
    return cluster === null ? metWords(of) : `${cluster}: ${metWords(of)}`;
  });
  const all = metCounts(rows, isStale);
  const value = `${told.join(", ") || metWords(all)} on ${madeOn}`;
  const labelWidth = 7 * kLabel.length + 14;
  const valueWidth = 7 * value.length + 18;
  const text = (x: number, words: string) =>
    `<text x="${x}" y="14" fill="#fff" text-anchor="middle" ` +
    `font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">${escaped(words)}</text>`;
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${labelWidth + valueWidth}" height="20" ` +
    `role="img" aria-label="${kLabel}: ${escaped(value)}">` +
    `<rect width="${labelWidth}" height="20" fill="#3d4540"/>` +
    `<rect x="${labelWidth}" width="${valueWidth}" height="20" ` +
    `fill="${badgeColour(all)}"/>` +
    `${text(labelWidth / 2, kLabel)}${text(labelWidth + valueWidth / 2, value)}</svg>\n`
  );
}
