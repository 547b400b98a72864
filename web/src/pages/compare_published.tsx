// How each of the compared groups stands against its published result.
import type { Comparison } from "../api/types";
import { groupStandingWords } from "../compared_words";
import { formatCount } from "../format";
import { Table } from "../parts/table";
import { nameOfGroup } from "../state/sides";

export function PublishedStandings({ comparison: { groups } }: { comparison: Comparison }) {
  if (groups.length < 2 || groups.every((group) => group.published_standing === null)) return null;
  return (
    <section aria-labelledby="published-title">
      <div class="section-head">
        <h2 id="published-title">Against the published results</h2>
      </div>
      <Table
        isStacked
        name="The groups against their published results"
        heads={["group", "#runs", "the published speed itself"]}
        rows={groups.map((group) => [
          nameOfGroup(group.group, groups),
          formatCount(group.run_ids.length),
          <span class="wraps">{groupStandingWords(group)}</span>,
        ])}
      />
    </section>
  );
}
