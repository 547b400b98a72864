// Which clusters the board knows, and what each of them has.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { RootList, Scaling } from "../../web/src/api/types";
import { boardBadge, legendLines, scopeWords, type BoardScope } from "../../web/src/chart/board_picture";
import { boardRows, boardTable, overview, type BoardRow } from "../../web/src/state/board";
import { askBoard, type Asked, type BoardAnswers } from "../../web/src/state/board_clusters";
import { kNoCluster } from "../../web/src/cluster_words";
import { joined, measured, reference, scaling } from "./board_answers";

const kAbort = new AbortController().signal;

function asked(everything: Scaling, roots: RootList["roots"] = [kRoot]): Asked {
  return {
    references: async () => ({
      references: [reference({}), reference({ dtype: "fp8" }), reference({ workload: "llama4" })],
    }),
    scaling: async () => everything,
    roots: async () => ({ roots, parked_files: [], agents: [] }),
  };
}

const kRoot = {
  id: 1,
  path: "/logs",
  cluster: null,
  is_pushed: false,
  last_scan_at: null,
  last_scan_s: null,
  files_seen: 2,
  error: null,
  hangs_since: null,
};

const rowsOf = ({ answers, references }: BoardAnswers) =>
  answers.flatMap((one) => boardRows(references, one, "utc"));
const kScope = { chosen: [], cluster: null, madeOn: "2026-02-01", server: "llmb.example" };
const badge = (rows: BoardRow[], isStale = false, scope: Partial<BoardScope> = {}) =>
  boardBadge(rows, () => isStale, { ...kScope, ...scope });

test("clusters that only the runs name are boards of their own", async () => {
  const all = joined(measured("bf16", 1, "alpha"), measured("fp8", 2, "beta"));
  const answer = await askBoard("", kAbort, asked(all));
  assert.deepEqual(answer.clusters, ["alpha", "beta"]);
  const ofEach = rowsOf(answer);
  const shown = overview(ofEach).map((row) => [row.name, row.cluster, row.cells[0]?.state]);
  assert.deepEqual(shown, [
    ["grok1 314b bf16", "alpha", "met"],
    ["grok1 314b fp8", "beta", "met"],
    ["llama4 314b bf16", null, "missing"],
  ]);
  const table = boardTable(overview(ofEach), () => false);
  assert.deepEqual(table.rows.map((row) => row[table.heads.indexOf("cluster")]), ["alpha", "beta", ""]);
  const many = ofEach.slice(0, 1).map((row) => ({
    ...row,
    cells: row.cells.map((cell) => ({ ...cell, runCount: 1_234 })),
  }));
  const counted = boardTable(many, () => false);
  assert.equal(counted.rows[0]?.[counted.heads.indexOf("runs")], "1234", "for other programs");
  assert.match(badge(ofEach), />alpha: met by 1 of 3, beta: met by 1 of 3 on 2026-02-01</);
});

test("of one cluster the board is one, with no name in it", async () => {
  const all = measured("bf16", 1, "alpha");
  const answer = await askBoard("", kAbort, asked(all));
  assert.deepEqual(answer.answers.map(({ cluster }) => cluster), [null]);
  const rows = rowsOf(answer);
  assert.ok(!boardTable(rows, () => false).heads.includes("cluster"));
  assert.match(badge(rows), />met by 1 of 3 on 2026-02-01</);
  const chosen = await askBoard("alpha", kAbort, asked(all));
  assert.deepEqual(chosen.answers.map(({ cluster }) => cluster), ["alpha"]);
});

test("runs of no named cluster stand beside those of several", async () => {
  const all = joined(measured("bf16", 1, "alpha"), measured("fp8", 2, "beta"), measured("bf16", 3));
  const answer = await askBoard("", kAbort, asked(all));
  const [, , rest] = answer.answers;
  assert.equal(rest?.cluster, kNoCluster);
  assert.deepEqual(
    rest?.scaling.series.flatMap(({ points }) => points.flatMap(({ runs }) => runs.map(({ id }) => id))),
    [3],
  );
});

test("runs of no named cluster are not those of the only one that is named", async () => {
  const all = joined(measured("bf16", 1, "alpha"), measured("bf16", 3));
  const answer = await askBoard("", kAbort, asked(all));
  assert.deepEqual(answer.answers.map(({ cluster }) => cluster), ["alpha", kNoCluster]);
  const ofEach = rowsOf(answer);
  const runs = ofEach.map(({ cells }) => cells[0]?.runs ?? []).filter((ids) => ids.length > 0);
  assert.deepEqual(runs, [[1], [3]]);
});

test("a badge says which of its results are stale, and shows where all are", async () => {
  const answer = await askBoard("", kAbort, asked(measured("bf16", 1, "alpha")));
  const rows = rowsOf(answer);
  const old = badge(rows, true);
  assert.match(old, />met by 1 of 3, 1 of them stale on 2026-02-01</);
  const fillOf = (svg: string) => /fill="(#[0-9a-f]{6})"\/><text/.exec(svg)?.[1];
  assert.notEqual(fillOf(old), fillOf(badge(rows)));
});

test("a badge and a picture say what they are of", async () => {
  const answer = await askBoard("", kAbort, asked(measured("bf16", 1)));
  const rows = rowsOf(answer);
  const svg = badge(rows, false, { chosen: ["grok1", "h100"], cluster: "eos" });
  assert.match(svg, />0\.95 × the published LLM speed of grok1, h100</);
  assert.match(svg, />eos: met by 1 of 3 on 2026-02-01</);
  assert.match(badge(rows), />0\.95 × the published LLM speed</);
  assert.equal(
    scopeWords({ ...kScope, chosen: ["grok1"], cluster: "eos" }),
    "cluster eos, grok1, on 2026-02-01, by llmb.example",
  );
  assert.equal(scopeWords(kScope), "every published result, on 2026-02-01, by llmb.example");
  const legend = legendLines(rows, () => false);
  assert.deepEqual(legend.map((line) => line.split(":")[0]), ["aim met", "missing"]);
  assert.match(legendLines(rows, () => true).at(-1) ?? "", /^stale/);
});

test("a cluster's name is text in the badge", () => {
  const rows = boardRows(
    [reference({})],
    { cluster: "a<b>&", scaling: scaling(null, null) },
    "utc",
  );
  assert.match(badge(rows), />a&lt;b&gt;&amp;: met by 0 of 1 on 2026-02-01</);
});

test("of many clusters one is to be chosen", async () => {
  const names = Array.from({ length: 13 }, (_, at) => `c${at}`);
  const roots = names.map((cluster, at) => ({ ...kRoot, id: at + 1, cluster }));
  const many = asked(measured("bf16", 1), roots);
  const answer = await askBoard("", kAbort, many);
  assert.deepEqual([answer.answers.length, answer.clusters.length], [0, 13]);
  const chosen = await askBoard("c3", kAbort, many);
  assert.deepEqual(chosen.answers.map(({ cluster }) => cluster), ["c3"]);
});

test("a cluster without runs is known by its tree", async () => {
  const roots = [kRoot, { ...kRoot, id: 2, cluster: "beta" }];
  const answer = await askBoard("", kAbort, asked(measured("bf16", 1, "alpha"), roots));
  assert.deepEqual(answer.clusters, ["alpha", "beta"]);
  assert.deepEqual(answer.answers.map(({ scaling }) => scaling.series.length), [1, 0]);
});
