// What else the log and its folder hold: checkpoints, the collectives of an NCCL trace, reports on
// ranks, profiles.
import { fetchNccl } from "../api/client";
import type { CheckpointEvent, NcclUse, RunCheckpoints, RunDetails, RunNccl } from "../api/types";
import { formatBytes, formatCount, formatPlural, formatSeconds, kUnknown } from "../format";
import { LogLink } from "../parts/log_link";
import { Pending } from "../parts/pending";
import { Table } from "../parts/table";
import { useAnswer } from "../state/answer";
import { RunRanksSection } from "./run_ranks";

interface Props {
  run: RunDetails;
  checkpoints: RunCheckpoints | null;
}

export function RunEvidence({ run, checkpoints }: Props) {
  return (
    <>
      {checkpoints && checkpoints.checkpoints.length > 0 && (
        <Checkpoints checkpoints={checkpoints} />
      )}
      {run.is_traced && <Nccl id={run.id} />}
      {run.rank_measure_count > 0 && <RunRanksSection id={run.id} />}
      {run.profiles.length > 0 && <Profiles run={run} />}
    </>
  );
}

const kKinds: Record<CheckpointEvent["kind"], string> = {
  save_begun: "save begun",
  save: "save, its blocking part",
  save_finished: "save on disk",
  load: "load",
};

function Checkpoints({ checkpoints }: { checkpoints: RunCheckpoints }) {
  const shown = checkpoints.checkpoints;
  return (
    <section aria-labelledby="checkpoints-title">
      <div class="section-head">
        <h2 id="checkpoints-title">Checkpoints</h2>
        <span class="count">{formatPlural(checkpoints.checkpoint_count, "event")}</span>
      </div>
      <Table
        name="Checkpoints"
        heads={["event", "#iteration", "#duration", "#rank", "#byte of the log"]}
        rows={shown.map((event) => [
          kKinds[event.kind],
          formatCount(event.iteration),
          formatSeconds(event.duration_s),
          event.rank === null ? kUnknown : String(event.rank),
          <LogLink offset={event.offset}>{formatCount(event.offset)}</LogLink>,
        ])}
      />
      {shown.length < checkpoints.checkpoint_count && (
        <p class="sub">
          The first 16 and the newest are shown, {formatCount(shown.length)} of{" "}
          {formatCount(checkpoints.checkpoint_count)}.
        </p>
      )}
    </section>
  );
}

function Nccl({ id }: { id: number }) {
  const answer = useAnswer(
    `nccl ${id}`,
    (abort) => fetchNccl(id, abort),
    (run) => run === id,
  );
  const nccl = answer.value.value;
  return (
    <section aria-labelledby="nccl-title">
      <div class="section-head">
        <h2 id="nccl-title">Collectives of the NCCL trace</h2>
        {nccl && (
          <span class="count">
            {formatPlural(nccl.calls, "call")}, {formatBytes(nccl.bytes)}
          </span>
        )}
      </div>
      <Pending answer={answer} what="the trace" />
      {nccl && nccl.calls === 0 && nccl.torn_lines === 0 && (
        <p class="sub">The run's name or folder says that it was traced; its log holds no call.</p>
      )}
      {nccl && (nccl.calls > 0 || nccl.torn_lines > 0) && <Operations nccl={nccl} />}
    </section>
  );
}

function Operations({ nccl }: { nccl: RunNccl }) {
  const share = (use: NcclUse) =>
    use.bytes === null || nccl.bytes === 0
      ? kUnknown
      : `${((100 * use.bytes) / nccl.bytes).toFixed(1)} %`;
  return (
    <>
      <Table
        name="Collectives"
        isTall
        heads={[
          "operation",
          "datatype",
          "#elements a call",
          "#bytes a call",
          "#ranks",
          "#communicators",
          "#calls",
          "#bytes",
          "#share",
        ]}
        rows={nccl.operations.map((use) => [
          use.operation,
          use.datatype,
          formatCount(use.element_count),
          formatBytes(use.bytes_per_call),
          formatCount(use.rank_count),
          `${use.communicators_are_complete ? "" : "≥ "}${formatCount(use.communicator_count)}`,
          formatCount(use.calls),
          formatBytes(use.bytes),
          share(use),
        ])}
      />
      <p class="sub">
        Of AllGather and ReduceScatter the elements are one rank's part.
        {nccl.other_calls > 0 &&
          ` ${formatPlural(nccl.other_calls, "call")} of ${formatBytes(nccl.other_bytes)} found no` +
            " row of their own."}
        {nccl.torn_lines > 0 &&
          ` ${formatPlural(nccl.torn_lines, "line")} had been torn by ranks that wrote at once.`}
      </p>
    </>
  );
}

function Profiles({ run }: { run: RunDetails }) {
  return (
    <section aria-labelledby="profiles-title">
      <div class="section-head">
        <h2 id="profiles-title">Profiles</h2>
        <span class="count">{formatPlural(run.profiles.length, "file")}</span>
      </div>
      <Table
        name="Profiles"
        heads={["file, below the root", "#node", "#local rank", "#process", "#size"]}
        rows={run.profiles.map((profile) => [
          <code>{profile.relative_path}</code>,
          profile.node === null ? kUnknown : String(profile.node),
          profile.local_rank === null ? kUnknown : String(profile.local_rank),
          profile.process_id === null ? kUnknown : String(profile.process_id),
          formatBytes(profile.size_bytes),
        ])}
      />
      <p class="sub">
        Open them with Nsight Systems: <code>nsys-ui FILE</code>, or <code>nsys stats FILE</code>{" "}
        for tables.
      </p>
    </section>
  );
}
