// "/references": the documents' published results as tables, with the audit's finding at the cell
// whose figure does not follow from its own row; those on texts and other releases below.
import { useMemo } from "preact/hooks";
import { fetchAudit, fetchReferences } from "../api/client";
import type { Audit, AuditFinding, Reference } from "../api/types";
import {
  formatCount,
  formatKey,
  formatNumber,
  formatPlural,
  formatPrinted,
  formatRelative,
  formatWorkload,
} from "../format";
import { ChoiceField } from "../parts/choice_field";
import { CopyTable } from "../parts/copy_buttons";
import { Pending } from "../parts/pending";
import { UnknownKeys } from "../parts/unknown_keys";
import { UnknownValue } from "../parts/unknown_value";
import { useAnswer } from "../state/answer";
import { queryValue, setQuery } from "../state/page_query";
import { usePageTitle } from "../state/page_title";
import {
  documentTables,
  kQuantities,
  type DocumentTable,
  type ReferenceRow,
} from "../state/reference_tables";

interface Answers {
  references: Reference[];
  audit: Audit;
}

export function ReferencesPage() {
  usePageTitle("References");
  const answer = useAnswer<Answers>(
    "references",
    async (abort) => {
      const [{ references }, audit] = await Promise.all([
        fetchReferences(abort),
        fetchAudit(abort),
      ]);
      return { references, audit };
    },
    () => false,
  );
  const answers = answer.value.value;
  return (
    <>
      <div class="page-head">
        <h1>References</h1>
        <p class="count">
          what was published, and which figures do not follow from their own row, text or table
        </p>
      </div>
      <UnknownKeys />
      <Pending answer={answer} what="the published results" />
      {answers && <Documents answers={answers} />}
    </>
  );
}

function Documents({ answers }: { answers: Answers }) {
  const tables = useMemo(
    () => documentTables(answers.references, answers.audit.findings),
    [answers],
  );
  const chosen = queryValue("document");
  const onlyFindings = queryValue("findings") === "only";
  const { audit } = answers;
  const errors = audit.findings.filter(({ severity }) => severity === "error").length;
  const shown = tables.filter(({ document }) => !chosen || document === chosen);
  const isUnknown = shown.length === 0 && tables.length > 0;
  return (
    <>
      <p class="lead">
        {formatCount(audit.figures_checked)} figures were computed anew:{" "}
        <b>{formatPlural(errors, "figure does", "figures do")} not follow</b> by 1 % or more or in
        kind,{" "}
        {formatCount(audit.findings.length - errors)} by less, yet more than rounding explains.{" "}
        {formatPlural(audit.documents.findings, "finding is", "findings are")} of the recipe
        documents ({formatCount(audit.documents.figures_checked)} figures),{" "}
        {formatCount(audit.other_releases.findings)} of other releases (
        {formatCount(audit.other_releases.figures_checked)}).{" "}
        {audit.unchecked.length > 0 &&
          `${formatPlural(audit.unchecked.length, "figure")} cannot be computed.`}
      </p>
      <div class="filters">
        <ChoiceField
          label="document"
          none="all"
          chosen={chosen}
          values={tables.map(({ document }) => document)}
          onChoose={(value) => setQuery("document", value)}
        />
        <label class="switch">
          <input
            type="checkbox"
            checked={onlyFindings}
            onChange={() => setQuery("findings", onlyFindings ? "" : "only")}
          />
          only rows with a finding
        </label>
        <CopyTable table={() => exported(shown, onlyFindings)} />
      </div>
      {isUnknown && (
        <UnknownValue
          name="document"
          nothing="No document is called"
          every="Show every document"
        />
      )}
      {shown.map((table) => (
        <Document key={table.document} table={table} onlyFindings={onlyFindings} />
      ))}
    </>
  );
}

const rowName = ({ reference }: ReferenceRow) =>
  [
    formatWorkload(reference.workload),
    reference.model_size,
    reference.dtype,
    reference.gpu_type,
    reference.is_proxy && !reference.model_size.endsWith("proxy") && "proxy",
  ]
    .filter(Boolean)
    .join(" ");

function exported(tables: DocumentTable[], onlyFindings: boolean) {
  return {
    heads: ["document", "row", "GPUs", ...kQuantities.map(({ title }) => title), "findings"],
    rows: tables.flatMap((table) =>
      table.rows
        .filter((row) => !onlyFindings || row.findings.length > 0)
        .map((row) => [
          table.document,
          rowName(row),
          String(row.reference.gpu_count),
          ...kQuantities.map(({ key }) => String(row.reference[key] ?? "")),
          row.findings.map((finding) => finding.explanation).join(" "),
        ]),
    ),
  };
}

function Document({ table, onlyFindings }: { table: DocumentTable; onlyFindings: boolean }) {
  const rows = table.rows.filter((row) => !onlyFindings || row.findings.length > 0);
  const others = table.others;
  if (rows.length === 0 && others.length === 0) return null;
  return (
    <section aria-label={table.document}>
      <div class="section-head">
        <h2>{table.document}</h2>
        <span class="count">{formatPlural(table.findingCount, "finding")}</span>
      </div>
      {rows.length > 0 && (
        <div class="scroll" tabIndex={0} role="region" aria-label={`Results of ${table.document}`}>
          <table class="plain references">
            <thead>
              <tr>
                <th scope="col">configuration</th>
                <th scope="col" class="number">
                  GPUs
                </th>
                {kQuantities.map(({ key, title }) => (
                  <th key={key} scope="col" class="number">
                    {title}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map((row, at) => (
                <Row key={at} row={row} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {others.length > 0 && (
        <details class="twin" open={onlyFindings}>
          <summary>{formatPlural(others.length, "finding")} in its text and other tables</summary>
          <ul class="findings">
            {others.map((finding, at) => (
              <li key={at}>
                <b>
                  {finding.line > 0 && `line ${finding.line}, `}
                  {formatKey(finding.quantity)}
                </b>{" "}
                of {finding.row}: printed <code>{finding.printed}</code>.{" "}
                <Finding finding={finding} />
              </li>
            ))}
          </ul>
        </details>
      )}
    </section>
  );
}

function Row({ row }: { row: ReferenceRow }) {
  const { reference } = row;
  return (
    <tr>
      <th scope="row">{rowName(row)}</th>
      <td class="number">{formatCount(reference.gpu_count)}</td>
      {kQuantities.map(({ key }) => {
        const findings = row.findings.filter(({ quantity }) => quantity === key);
        const value = reference[key];
        if (findings.length === 0) {
          return (
            <td key={key} class="number">
              {formatPrinted(value)}
            </td>
          );
        }
        return (
          <td key={key} class={`number found found-${findings[0]?.severity}`}>
            <details class="finding">
              <summary>
                <FoundShape /> {findings[0]?.printed}
              </summary>
              {findings.map((finding, at) => (
                <p key={at}>
                  <Finding finding={finding} />
                </p>
              ))}
            </details>
          </td>
        );
      })}
    </tr>
  );
}

function Finding({ finding }: { finding: AuditFinding }) {
  return (
    <>
      {finding.recomputed !== null && (
        <>
          Its row, text or table gives <b>{formatNumber(finding.recomputed)}</b>
          {finding.relative_difference !== null &&
            `; the printed figure is off by ${formatRelative(finding.relative_difference, 1)}`}
          .{" "}
        </>
      )}
      {finding.explanation}
    </>
  );
}

function FoundShape() {
  return (
    <svg class="conflict-shape" viewBox="0 0 14 14" width="13" height="13" aria-hidden="true">
      <path d="M7 1.8 13 12.2H1Z" class="stroke thin" />
      <path d="M7 5.4V8.6M7 10.2V10.9" class="stroke thin" />
    </svg>
  );
}
