// What each of the tools that people use would report for the run's log, beside our result, and why
// they differ.
import { fetchAgreement } from "../api/client";
import type { RunAgreement, ToolResult } from "../api/types";
import { agreementWords } from "../agreement_words";
import { formatCount, formatNumber, formatPlural, formatRelative, kUnknown } from "../format";
import { AgreementPlot } from "../chart/agreement_plot";
import { Answered, Pending } from "../parts/pending";
import { useAnswer } from "../state/answer";

export function RunAgreementSection({ id, over }: { id: number; over: string }) {
  const answer = useAnswer(
    `${id} ${over}`,
    (abort) => fetchAgreement(id, over, abort),
    (run) => run === id,
  );
  const agreement = answer.value.value;
  return (
    <section class="agreement" aria-labelledby="agreement-title">
      <div class="section-head">
        <h2 id="agreement-title">What other tools report</h2>
      </div>
      <Pending answer={answer} what="the tools' results" />
      {agreement && (
        <Answered isOld={answer.isOld}>
          <Tools agreement={agreement} />
        </Answered>
      )}
    </section>
  );
}

function Tools({ agreement }: { agreement: RunAgreement }) {
  const readers = agreement.tools.filter((tool) => tool.reads_such_logs);
  const others = agreement.tools.length - readers.length;
  const { ours } = agreement;
  return (
    <>
      <p class="window-note">{agreementWords(readers)}</p>
      <Picture agreement={agreement} readers={readers} />
      <div class="scroll" tabIndex={0} role="region" aria-label="Results of the tools">
        <table class="plain">
          <thead>
            <tr>
              <th scope="col">tool</th>
              <th scope="col">steps it takes</th>
              <th scope="col" class="number">
                steps
              </th>
              <th scope="col" class="number">
                mean, s
              </th>
              <th scope="col" class="number">
                sd, s
              </th>
              <th scope="col" class="number">
                TFLOPS/GPU
              </th>
              <th scope="col" class="number">
                to ours
              </th>
              <th scope="col">why</th>
            </tr>
          </thead>
          <tbody>
            <tr class="is-ours">
              <th scope="row">llmb-report</th>
              <td>{ours.window}</td>
              <td class="number">{formatCount(ours.step_time_s?.count ?? 0)}</td>
              <td class="number">{formatNumber(ours.step_time_s?.mean)}</td>
              <td class="number">{formatNumber(ours.step_time_s?.stddev_sample)}</td>
              <td class="number">{formatNumber(ours.tflops_per_gpu?.mean)}</td>
              <td class="number">{kUnknown}</td>
              <td class="why">{ours.status_reason}</td>
            </tr>
            {readers.map((tool) => (
              <Tool key={`${tool.tool} ${tool.release}`} tool={tool} />
            ))}
          </tbody>
        </table>
      </div>
      {others > 0 && (
        <p class="sub">{formatPlural(others, "other known tool")} cannot read such a log.</p>
      )}
    </>
  );
}

function Tool({ tool }: { tool: ToolResult }) {
  return (
    <tr>
      <th scope="row">
        {tool.tool}
        <span class="sub">{tool.release}</span>
      </th>
      <td class="tool-window">{tool.window}</td>
      <td class="number">{tool.gives_result ? formatCount(tool.step_count) : kUnknown}</td>
      <td class="number">{formatNumber(tool.step_time_s_mean)}</td>
      <td class="number">{formatNumber(tool.step_time_s_std)}</td>
      <td class="number">{formatNumber(tool.tflops_per_gpu_mean)}</td>
      <td class="number">{formatRelative(tool.difference_to_ours)}</td>
      <td class="why">
        {tool.why}
        {tool.gives_result && tool.reason && <span class="sub">{tool.reason}</span>}
      </td>
    </tr>
  );
}

function Picture({ agreement, readers }: { agreement: RunAgreement; readers: ToolResult[] }) {
  const time = agreement.ours.step_time_s;
  const dots = readers.flatMap(({ tool, release, step_time_s_mean: value }) =>
    value === null ? [] : [{ name: `${tool} ${release}`.trim(), value }],
  );
  if (!time || time.mean === null || dots.length === 0) return null;
  const deviation = time.count > 1 ? time.stddev_sample : null;
  return (
    <AgreementPlot
      ours={{ mean: time.mean, deviation }}
      dots={dots}
      summary={
        `Mean step times that ${formatPlural(dots.length, "tool")} would report, beside ours of ` +
        `${formatNumber(time.mean)} s. The table below lists them.`
      }
    />
  );
}
