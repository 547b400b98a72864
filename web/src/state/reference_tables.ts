// The published results as one table a document, each row with the audit's findings on it. Pure.
import type { AuditFinding, Reference } from "../api/types";

export const kQuantities = [
  { key: "step_time_s", title: "step time, s" },
  { key: "tokens_per_s", title: "tokens/s" },
  { key: "mfu_percent", title: "MFU, %" },
  { key: "days_to_train_1t", title: "days for 1 T tokens" },
] as const;

const kCells = new Set<string>(kQuantities.map(({ key }) => key));

export interface ReferenceRow {
  reference: Reference;
  findings: AuditFinding[]; // on a figure of this row
}

export interface DocumentTable {
  document: string;
  rows: ReferenceRow[];
  others: AuditFinding[]; // in its text, its worked examples, its configuration tables
  findingCount: number;
}

// Results of other releases name the file and cell that each stands in; they are shown by release.
function documentOf(reference: Reference): string {
  return reference.document ?? `release ${reference.release}`;
}

function rowOf({ workload, model_size, dtype, gpu_count, gpu_type }: Reference): string {
  return `${workload} ${model_size} ${dtype}, ${gpu_count} ${gpu_type}`;
}

// What the audit calls the place: document and row, or the source of a result without a document.
function placeOf(reference: Reference): string {
  return reference.document
    ? `${reference.document}|${rowOf(reference)}`
    : `${reference.source}|${rowOf(reference)}`;
}

export function documentTables(
  references: readonly Reference[],
  findings: readonly AuditFinding[],
): DocumentTable[] {
  const byPlace = new Map<string, AuditFinding[]>();
  const others = new Map<string, AuditFinding[]>();
  const places = new Set(references.map(placeOf));
  const put = (map: Map<string, AuditFinding[]>, key: string, finding: AuditFinding) =>
    map.set(key, [...(map.get(key) ?? []), finding]);
  for (const finding of findings) {
    const place = `${finding.document}|${finding.row}`;
    const isOfTable = finding.column > 0 || finding.line === 0;
    if (isOfTable && kCells.has(finding.quantity) && places.has(place)) {
      put(byPlace, place, finding);
    } else {
      const release = finding.line === 0 ? `release ${finding.release}` : finding.document;
      put(others, release, finding);
    }
  }
  const tables = new Map<string, DocumentTable>();
  const tableOf = (document: string) => {
    const table = tables.get(document) ?? { document, rows: [], others: [], findingCount: 0 };
    tables.set(document, table);
    return table;
  };
  for (const reference of references) {
    const found = byPlace.get(placeOf(reference)) ?? [];
    const table = tableOf(documentOf(reference));
    table.rows.push({ reference, findings: found });
    table.findingCount += found.length;
  }
  for (const [document, found] of others) {
    const table = tableOf(document);
    table.others = found;
    table.findingCount += found.length;
  }
  return [...tables.values()];
}
