// Views of the table of runs that this browser's reader keeps: filters, order and columns, by name.
import { storedChoice } from "./choices";

export interface SavedView {
  name: string;
  query: string; // of the page's address, without picks
  columns: string[] | null; // null: the usual ones
}

const kViewsMax = 40;

function isView(stored: unknown): stored is SavedView {
  if (typeof stored !== "object" || stored === null) return false;
  const { name, query, columns } = stored as Partial<SavedView>;
  const areColumns = Array.isArray(columns) && columns.every((key) => typeof key === "string");
  return typeof name === "string" && typeof query === "string" && (columns === null || areColumns);
}

// Of views that were kept when lists called it so.
const kFormerMfu = /\bmfu_model_flops_reference/g;

const choice = storedChoice<SavedView[]>("llmb.views", [], (stored) =>
  Array.isArray(stored) && stored.every(isView)
    ? stored.map((view) => ({ ...view, query: view.query.replace(kFormerMfu, "mfu") }))
    : null,
);

export const savedViews = choice.value;

// One of the same name is replaced.
export function saveView(view: SavedView): void {
  const others = savedViews.value.filter(({ name }) => name !== view.name);
  choice.set([...others, view].slice(-kViewsMax));
}

export function forgetView(name: string): void {
  choice.set(savedViews.value.filter((view) => view.name !== name));
}
