// The end of what a job writes, followed while it runs: the newest start's log, or what its batch
// script printed.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { asProblem, fetchJobLog, isAbort, jobLogTextHref, type Problem } from "../api/client";
import type { JobDetails, JobLog } from "../api/types";
import { formatBytes } from "../format";
import { ProblemPanel } from "../parts/panels";
import { isAtBottom } from "./run_log";

const kPieceBytes = 64 * 1024;
const kFollowEveryMs = 2_000;
const kTextMax = 256 * 1024; // characters that are kept; the log itself has the rest

type Of = JobLog["of"];

export function JobLogTail({ job }: { job: JobDetails }) {
  const [of, setOf] = useState<Of>("run");
  const [text, setText] = useState("");
  const [last, setLast] = useState<JobLog | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const box = useRef<HTMLPreElement>(null);
  const seesEnd = useRef(true); // the reader did, before the newest text

  useEffect(() => {
    const abort = new AbortController();
    let timer: ReturnType<typeof setTimeout>;
    let next: number | null = null;
    let path: string | null = null;
    setText("");
    setLast(null);
    const follow = async () => {
      try {
        const query = new URLSearchParams({ of, limit_bytes: String(kPieceBytes) });
        if (next !== null) query.set("offset", String(next));
        const piece = await fetchJobLog(job.id, query, abort.signal);
        // Another start's log: of it the end is asked for.
        const isOther = next !== null && (piece.path !== path || piece.size_bytes < next);
        next = isOther || piece.path === null ? null : piece.next_offset;
        path = piece.path;
        seesEnd.current = isAtBottom(box.current);
        setText((before) => (isOther ? "" : (before + piece.text).slice(-kTextMax)));
        setLast(piece);
        setProblem(null);
        // Half a character at the end comes once its rest is there.
        const isAtEnd = piece.text === "" || piece.next_offset >= piece.size_bytes;
        if (piece.job_has_ended && isAtEnd && !isOther) return;
        timer = setTimeout(() => void follow(), isAtEnd && !isOther ? kFollowEveryMs : 0);
      } catch (error) {
        if (isAbort(error)) return;
        setProblem(asProblem(error));
        timer = setTimeout(() => void follow(), 5 * kFollowEveryMs);
      }
    };
    void follow();
    return () => {
      abort.abort();
      clearTimeout(timer);
    };
  }, [job.id, of]);
  // Before the next piece comes, of which a long log has several at once.
  useLayoutEffect(() => {
    if (seesEnd.current && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [text]);

  return (
    <section aria-labelledby="log-title">
      <div class="section-head">
        <h2 id="log-title">Its log</h2>
        <label class="field log-of">
          <span>show</span>
          <select value={of} onChange={(event) => setOf(event.currentTarget.value as Of)}>
            <option value="run">the run's log</option>
            <option value="batch">the batch script's</option>
          </select>
        </label>
      </div>
      {problem && <ProblemPanel problem={problem} />}
      {last && last.path === null && (
        <p>{last.job_has_ended ? "None was found." : "There is none before the job has started."}</p>
      )}
      {last && last.path !== null && (
        <>
          <p class="path">
            <code>{last.path}</code>, {formatBytes(last.size_bytes)}
            {!last.job_has_ended && ", followed"}{" "}
            <a href={jobLogTextHref(job.id, of)} download aria-label="Download the log">
              Download
            </a>
          </p>
          <pre class="log" ref={box} tabIndex={0} aria-label="The end of the log">
            {text || "It is empty."}
          </pre>
        </>
      )}
    </section>
  );
}
