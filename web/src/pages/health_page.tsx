// "/health": whether what the other pages show can be relied on: roots, files that cannot be read,
// what is still to be read, the jobs' Slurm.
import { fetchReadiness, fetchRuns } from "../api/client";
import type { JobList, PushAgent, Root, Run } from "../api/types";
import {
  formatBytes,
  formatCount,
  formatKey,
  formatPlural,
  formatSpan,
  kDialectsNotRead,
  kUnknown,
} from "../format";
import { slurmWords } from "../job_words";
import { HintPanel, Loading } from "../parts/panels";
import { Table } from "../parts/table";
import { UnknownKeys } from "../parts/unknown_keys";
import { Ago, breakable, Instant } from "../parts/values";
import { useAnswer, type Answer } from "../state/answer";
import { nowMs, rootList, service, unanswered } from "../state/service";
import { jobsAreOn, jobsAreOnlyShown, useJobs } from "../state/jobs";
import { usePageTitle } from "../state/page_title";

// Logs whose bytes are no text that is read, among the newest without data.
function useUnread(): Run[] {
  const query = new URLSearchParams({ status: "no_data", limit: "200", sort: "-id" });
  const answer = useAnswer(
    "unread",
    (abort) => fetchRuns(query, abort),
    () => false,
    () => false,
    Math.floor(nowMs.value / 30_000),
  );
  return (answer.value.value?.runs ?? []).filter((run) => kDialectsNotRead.includes(run.dialect));
}

export function HealthPage() {
  usePageTitle("Health");
  const causes = useAnswer(
    "ready",
    () => fetchReadiness(), // the next turn ends none that is slow
    () => false,
    () => false,
    Math.floor(nowMs.value / 10_000),
  );
  const unread = useUnread();
  const jobs = useJobs();
  const lost = unanswered.value;
  const isIll =
    (causes.value.value?.length ?? 0) > 0 || (jobs.value.value?.slurm_error ?? null) !== null;
  return (
    <>
      <div class="page-head">
        <h1>Health</h1>
        <p class="count">
          {lost ? (
            <>
              no answer since <Instant at={lost.since} />
            </>
          ) : (
            causes.value.value && stateWords(isIll, unread.length)
          )}
        </p>
      </div>
      <UnknownKeys />
      {lost && <Cause title={lost.problem.title} detail={lost.problem.detail} />}
      {(lost ? [] : (causes.value.value ?? [])).map(({ cause, detail }) => (
        <Cause key={cause + detail} title={formatKey(cause)} detail={detail} />
      ))}
      {!lost && <Reading />}
      <Roots />
      <Agents />
      {!lost && <Parked unread={unread} />}
      {!lost && <Slurm jobs={jobs} />}
    </>
  );
}

function Cause({ title, detail }: { title: string; detail: string }) {
  return (
    <section class="banner" role="alert">
      <h2>{title}</h2>
      <p>{detail}</p>
    </section>
  );
}

function stateWords(isIll: boolean, unread: number): string {
  const count = (service.value?.files_parked ?? 0) + unread;
  if (isIll) return "not all is well";
  return count > 0 ? `${formatPlural(count, "log")} cannot be read` : "all is well";
}

function Reading() {
  const status = service.value;
  if (!status) return <Loading what="the service's state" />;
  if (status.reads_only) return <ReadOnly version={status.version} />;
  const facts: [string, string][] = [
    ["Version", status.version],
    ["Logs watched", formatCount(status.files_seen)],
    ["Logs to read", formatCount(status.files_pending)],
    ["Bytes to read", formatBytes(status.bytes_pending)],
    ["Logs set aside", formatCount(status.files_parked)],
    ["Bytes read since the start", formatBytes(status.bytes_read)],
    ["Steps stored since the start", formatCount(status.samples_committed)],
    ["First scan", status.first_scan_done ? "done" : "under way"],
  ];
  if (status.files_of_earlier_reading > 0) {
    facts.push([
      "Logs told by an earlier version",
      `${formatCount(status.files_of_earlier_reading)}; --anew reads those again that have settled`,
    ]);
  }
  if (status.retention) {
    facts.push(["Runs removed since the start", formatCount(status.retention.runs_removed)]);
  }
  return (
    <section aria-labelledby="reading-title">
      <div class="section-head">
        <h2 id="reading-title">Reading logs, and the database</h2>
      </div>
      <p>
        {status.halted_reason
          ? `Nothing is stored just now: ${status.halted_reason}`
          : "What is read is stored."}{" "}
        <span class="hint">
          <code>llmb-report doctor</code> checks every page and step count of the database.
        </span>
      </p>
      <dl class="facts">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

// What another process reads, and how far it is, is that one's to tell.
function ReadOnly({ version }: { version: string }) {
  return (
    <section aria-labelledby="reading-title">
      <div class="section-head">
        <h2 id="reading-title">This server reads only</h2>
      </div>
      <p>
        Another one reads the logs into this database; its own health page says how far it is. What
        it stores is here within a second or two. (Version {version})
      </p>
    </section>
  );
}

const kNotKnown = "not known: the server does not answer";

function rootState(root: Root): string {
  if (unanswered.value) return kNotKnown;
  if (root.hangs_since) {
    const seconds = (nowMs.value - Date.parse(root.hangs_since)) / 1000;
    return `its file system has not answered for ${formatSpan(Math.max(0, seconds))}`;
  }
  return root.error ?? "answers";
}

function Roots() {
  const roots = rootList.value?.roots.filter((root) => !root.is_pushed);
  const isPushedTo = rootList.value?.roots.some((root) => root.is_pushed);
  const agents = rootList.value?.agents ?? [];
  const title = service.value?.reads_only ? "Trees that the other server watches" : "Watched trees";
  const hasOthers = isPushedTo || agents.length > 0 || service.value?.reads_only;
  if (!roots || (roots.length === 0 && hasOthers)) return null;
  return (
    <section aria-labelledby="roots-title">
      <div class="section-head">
        <h2 id="roots-title">{title}</h2>
      </div>
      {roots.length === 0 ? (
        <HintPanel title="No tree is watched yet">
          <p>Start the server with the folder that holds your experiments:</p>
          <pre tabIndex={0}>llmb-report serve "$LLMB_WORKLOAD"</pre>
        </HintPanel>
      ) : (
        <Table
          name={title}
          heads={["tree", "cluster", "state", "#logs", "last scan", "#it took"]}
          rows={roots.map((root) => [
            <code>{root.path}</code>,
            root.cluster ?? kUnknown,
            <span class={rootState(root) === "answers" ? "" : "told-slower"}>
              {rootState(root)}
            </span>,
            formatCount(root.files_seen),
            <Ago at={root.last_scan_at} />,
            root.last_scan_s === null ? kUnknown : `${root.last_scan_s.toFixed(2)} s`,
          ])}
        />
      )}
    </section>
  );
}

// An agent speaks once a minute at least.
const kSilentAfterMs = 180_000;

function agentState(agent: PushAgent): string {
  if (unanswered.value) return kNotKnown;
  if (nowMs.value - Date.parse(agent.last_seen_at) > kSilentAfterMs) return "silent";
  return agent.logs_pending > 0 ? "is behind" : "has pushed all";
}

// Who pushes the runs of other clusters here; nothing where nobody ever did. Whose work is done for
// good, as a back-fill's, is no agent any more, but its tree stays.
function Agents() {
  const agents = rootList.value?.agents ?? [];
  const pushed = (rootList.value?.roots ?? []).filter((root) => root.is_pushed);
  if (agents.length === 0 && pushed.length === 0) return null;
  return (
    <section aria-labelledby="agents-title">
      <div class="section-head">
        <h2 id="agents-title">Agents that push runs here</h2>
      </div>
      {agents.length === 0 ? (
        <p>
          None just now. Pushed before:{" "}
          {pushed.map((root) => (
            <span key={root.id}>
              <code>{root.path}</code> of {root.cluster ?? kUnknown}{" "}
            </span>
          ))}
        </p>
      ) : (
        <Table
          name="Agents that push runs here"
          heads={["cluster", "machine", "trees", "state", "last word", "#logs to push", "since"]}
          rows={agents.map((agent) => [
            agent.cluster,
            `${agent.name} (${agent.version})`,
            pushed
              .filter((root) => root.cluster === agent.cluster)
              .map((root) => <code key={root.id}>{root.path} </code>),
            <span class={["silent", kNotKnown].includes(agentState(agent)) ? "told-slower" : ""}>
              {agentState(agent)}
            </span>,
            <Ago at={agent.last_seen_at} />,
            formatCount(agent.logs_pending),
            agent.pending_since ? <Ago at={agent.pending_since} /> : kUnknown,
          ])}
        />
      )}
    </section>
  );
}

function Parked({ unread }: { unread: Run[] }) {
  const files = rootList.value?.parked_files ?? [];
  const roots = new Map((rootList.value?.roots ?? []).map((root) => [root.id, root.path]));
  return (
    <section aria-labelledby="parked-title">
      <div class="section-head">
        <h2 id="parked-title">Logs set aside</h2>
      </div>
      {files.length === 0 ? (
        <p>
          {unread.length === 0
            ? "None: every log that was found can be read."
            : "None: every log that was found can be opened."}
        </p>
      ) : (
        <Table
          name="Logs set aside"
          isTall
          heads={["log", "why", "#tries", "set aside", "tried again"]}
          rows={files.map((file) => [
            <code>{breakable(`${roots.get(file.root_id) ?? ""}/${file.relative_path}`)}</code>,
            <span class="why">{file.reason}</span>,
            formatCount(file.failures),
            <Ago at={file.parked_at} />,
            <Instant at={file.retry_at} />,
          ])}
        />
      )}
      {unread.length > 0 && (
        <Table
          name="Logs that are no text"
          isTall
          heads={["log", "why it is not read"]}
          rows={unread.map((run) => [
            <a href={`/runs/${run.id}`}>{breakable(run.relative_path)}</a>,
            <span class="why">{run.status_reason}</span>,
          ])}
        />
      )}
    </section>
  );
}

function slurmState(list: JobList) {
  return <span class={list.slurm_error === null ? "" : "told-slower"}>{slurmWords(list)}</span>;
}

function Slurm({ jobs }: { jobs: Answer<JobList | null> }) {
  const list = jobs.value.value;
  return (
    <section aria-labelledby="slurm-title">
      <div class="section-head">
        <h2 id="slurm-title">Slurm</h2>
      </div>
      <p>
        {jobsAreOnlyShown()
          ? "Not asked here: this server only reads its database."
          : jobsAreOn() === false
            ? "Not used: the configuration names no cluster, so jobs are neither submitted nor followed."
            : jobs.problem.value
              ? jobs.problem.value.detail
              : !list
                ? "Asking …"
                : slurmState(list)}
        {list?.slurm_asked_at && (
          <>
            {" "}
            Asked last: <Ago at={list.slurm_asked_at} />.
          </>
        )}
      </p>
    </section>
  );
}
