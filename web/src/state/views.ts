// Views of the table of runs that this browser's reader keeps: filters, order and columns, by name.
import { storedChoice } from "./choices";

export interface SavedView {
  name: string;
  query: string; // of the page's address, without picks
  columns: string[] | null; // null: the usual ones
}

export const kViewsMax = 40;

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

const others = (views: SavedView[], than: string) => views.filter(({ name }) => name !== than);

export function hasRoomFor(name: string, views = savedViews.value): boolean {
  return others(views, name).length < kViewsMax;
}

// One of the same name is replaced; one for which there is no room is not kept.
export function saveView(view: SavedView): void {
  choice.change((views) =>
    hasRoomFor(view.name, views) ? [...others(views, view.name), view] : views,
  );
}

export function forgetView(name: string): void {
  choice.change((views) => others(views, name));
}
