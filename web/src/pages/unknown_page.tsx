// What an address shows that is no page.
import { usePageTitle } from "../state/page_title";

export function UnknownPage() {
  usePageTitle("No such page");
  return (
    <>
      <div class="page-head">
        <h1>There is no such page</h1>
      </div>
      <p>
        <a href="/runs">See all runs</a>
      </p>
    </>
  );
}
