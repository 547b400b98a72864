// The search in a run's log: what is asked, piece by piece, and what is said of what was found.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { RunLogMatches } from "../../web/src/api/types";
import { foundWords, hasGrown, markedParts } from "../../web/src/log_search_words";
import { expressionOf, LogSearch, searchQuery } from "../../web/src/state/log_search";

const kSize = 3_000;

// Answers one question after another, and notes what was asked.
function serve(...answers: Partial<RunLogMatches>[]): URLSearchParams[] {
  const asked: URLSearchParams[] = [];
  globalThis.fetch = (async (input: unknown) => {
    asked.push(new URL(String(input), "http://localhost").searchParams);
    const answer = answers.shift();
    if (!answer) throw new TypeError("no answer");
    const whole = { run_id: 1, size_bytes: kSize, lines: [], next_offset: null, has_gaps: false };
    return new Response(JSON.stringify({ ...whole, ...answer }), { status: 200 });
  }) as typeof fetch;
  return asked;
}

const linesFrom = (first: number, count: number) =>
  Array.from({ length: count }, (_, at) => ({ offset: first + at, text: "a", is_cut: false }));

test("what stands between slashes is a regular expression", () => {
  assert.equal(String(searchQuery("a/b")), "text=a%2Fb");
  assert.equal(String(searchQuery("/a+/")), "pattern=a%2B");
  assert.equal(String(searchQuery("/a/i")), "pattern=%28%3Fi%29a");
  assert.equal(String(searchQuery("//")), "text=%2F%2F");
  assert.equal(String(searchQuery("/a\\/b/")), "pattern=a%5C%2Fb");
});

test("a path is a text, and what would be an expression can be looked for as one", () => {
  assert.equal(String(searchQuery("/lustre/ckpt/")), "text=%2Flustre%2Fckpt%2F");
  assert.equal(expressionOf("/tmp/"), "/\\/tmp\\//i");
  const pattern = searchQuery(expressionOf("/a.b[0]\\/")).get("pattern");
  assert.equal(pattern, "(?i)\\/a\\.b\\[0\\]\\\\\\/");
});

test("a log that has grown is looked on from the line that may have been written in part", async () => {
  const asked = serve(
    { lines: linesFrom(10, 1), next_offset: 1_000 },
    { lines: linesFrom(2_900, 1) },
    { lines: linesFrom(2_900, 2), size_bytes: 4_000 },
  );
  const search = new LogSearch(1);
  await search.find("a");
  assert.equal(foundWords(search.found.value, kSize), "2 lines.");
  assert.equal(foundWords(search.found.value, 4_000), "2 lines. The log has grown since.");
  await search.goOn();
  assert.equal(asked[2]?.get("from"), "1000");
  assert.deepEqual(search.found.value.lines.map(({ offset }) => offset), [10, 2_900, 2_901]);
  assert.equal(hasGrown(search.found.value, 4_000), false);
});

test("a refused search does not go on for ever", async () => {
  serve();
  const search = new LogSearch(1);
  await search.find("/(/");
  assert.ok(search.problem.value);
  assert.equal(foundWords(search.found.value), "");
});

test("a long log is looked through in several questions", async () => {
  const asked = serve(
    { lines: linesFrom(0, 1), next_offset: 1_000 },
    { next_offset: 2_000, has_gaps: true },
    { lines: linesFrom(2_500, 2) },
  );
  const search = new LogSearch(1);
  await search.find("a");
  assert.deepEqual(asked.map((query) => query.get("from")), ["0", "1000", "2000"]);
  assert.deepEqual(asked.map((query) => query.get("limit")), ["200", "199", "199"]);
  const { phase, lines, searchedBytes, hasGaps } = search.found.value;
  assert.deepEqual([phase, lines.length, searchedBytes, hasGaps], ["done", 3, kSize, true]);
  assert.equal(foundWords(search.found.value), "3 lines. Some of the log is not on this server.");
});

test("many lines are shown in part, until more are wanted", async () => {
  const asked = serve({ lines: linesFrom(0, 200), next_offset: 1_024 }, {});
  const search = new LogSearch(1);
  await search.find("a");
  assert.equal(search.found.value.phase, "partial");
  assert.match(foundWords(search.found.value), /^200 lines so far, 1.0 KiB of 2.9 KiB looked/);
  await search.goOn();
  assert.equal(search.found.value.phase, "done");
  assert.equal(asked.length, 2);
});

test("no question asks for more lines than the server gives at once", async () => {
  const pieces = [0, 1_000, 2_000].map((from) => ({
    lines: linesFrom(from, 200),
    next_offset: from + 1_000,
  }));
  const asked = serve(...pieces, { lines: linesFrom(3_000, 400), size_bytes: 9_000 });
  const search = new LogSearch(1);
  await search.find("a");
  for (let at = 0; at < 3; at += 1) await search.goOn();
  assert.equal(search.found.value.lines.length, 1_000);
  // The log grows twice, and what is looked at anew holds most of the lines.
  const grown = { lines: linesFrom(3_000, 500), next_offset: 4_000 };
  const more = serve(grown, { lines: linesFrom(4_000, 1) }, { lines: linesFrom(4_000, 2) });
  await search.goOn();
  await search.goOn();
  const limits = [...asked, ...more].map((query) => Number(query.get("limit")));
  assert.ok(limits.every((limit) => limit > 0 && limit <= 500), String(limits));
  assert.equal(search.found.value.lines.length, 1_102);
  assert.equal(search.found.value.phase, "done");
});

test("what cannot be asked is said, and asked again from where it stopped", async () => {
  serve({ lines: linesFrom(0, 1), next_offset: 1_000 });
  const search = new LogSearch(1);
  await search.find("a");
  assert.ok(search.problem.value);
  assert.equal(search.found.value.phase, "partial");
  const asked = serve({});
  await search.goOn();
  assert.equal(asked[0]?.get("from"), "1000");
  assert.equal(search.problem.value, null);
  assert.equal(search.found.value.lines.length, 1);
});

test("another search begins anew, and none shows nothing", async () => {
  serve({ lines: linesFrom(0, 1) }, {});
  const search = new LogSearch(1);
  await search.find("a");
  await search.find("b");
  assert.equal(foundWords(search.found.value), "No line holds it.");
  await search.find("");
  assert.equal(foundWords(search.found.value), "");
});

test("what was looked for is marked where it stands, in any case", () => {
  assert.deepEqual(markedParts("An error, one ERROR", "error"), ["An ", "error", ", one ", "ERROR", ""]);
  assert.deepEqual(markedParts("nothing", "error"), ["nothing"]);
  assert.deepEqual(markedParts("text", ""), ["text"]);
  assert.deepEqual(markedParts("at /tmp/ Tmp", "/\\/TMP\\//i"), ["at ", "/tmp/", " Tmp"]);
  assert.deepEqual(markedParts("NCCL nccl", "/NCCL/"), ["", "NCCL", " nccl"]);
  assert.deepEqual(markedParts("see /a+b/ there", "/a+b/"), ["see /a+b/ there"]);
  assert.deepEqual(markedParts("a+b aab", "/a+b/"), ["a+b aab"]);
  assert.deepEqual(markedParts("a\\d", "/\\d/"), ["a\\d"]);
});
