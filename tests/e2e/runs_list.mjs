// What the tests of the runs page do with its filters, and see of its rows.
import { until } from "./daemon.mjs";
import { rows } from "./page.mjs";

// Checks a value of one of the filters.
export async function choose(page, filter, value) {
  const list = page
    .locator("details.field-list")
    .filter({ has: page.locator("legend", { hasText: new RegExp(`^${filter}$`) }) });
  await list.locator("summary").click();
  await list.getByLabel(value, { exact: true }).check();
  await list.locator("summary").click();
}

// The button before the filters that are seldom asked for.
export const more = (page) => page.getByRole("button", { name: /^More filters/ });
export const seldom = (page) => page.getByRole("group", { name: "more filters" });

export const shownIds = (page) =>
  rows(page).evaluateAll((all) => all.map((row) => Number(row.dataset.run)));

export async function untilShown(page, daemon, query) {
  await until(`the runs of ${query}`, async () => {
    const { runs } = await daemon.get(`/api/v1/runs?limit=100&${query}`);
    const ids = await shownIds(page);
    return ids.length > 0 && ids.join() === runs.slice(0, ids.length).map((run) => run.id).join();
  });
}

// One of the lists that open over the page.
export const popUp = (page, name) =>
  page.locator("details.choice").filter({ has: page.locator("summary", { hasText: name }) });
