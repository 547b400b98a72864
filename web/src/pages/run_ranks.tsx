// What the log's own instruments say of its ranks: straggler detectors, timers, sniff tests.
import { fetchRanks } from "../api/client";
import type { RunRanks } from "../api/types";
import { formatCount, formatPlural, kUnknown } from "../format";
import { LogLink } from "../parts/log_link";
import { Pending } from "../parts/pending";
import { Table } from "../parts/table";
import { rankName, rankQuantity, rankRange, rankSource, rankValue } from "../rank_words";
import { useAnswer } from "../state/answer";

export function RunRanksSection({ id }: { id: number }) {
  const answer = useAnswer(
    `ranks ${id}`,
    (abort) => fetchRanks(id, abort),
    (run) => run === id,
  );
  const ranks = answer.value.value;
  return (
    <section aria-labelledby="ranks-title">
      <div class="section-head">
        <h2 id="ranks-title">What the log says of its ranks</h2>
        {ranks && <span class="count">{formatPlural(ranks.measures.length, "row")}</span>}
      </div>
      <Pending answer={answer} what="what the log says of its ranks" />
      {ranks && <Measures ranks={ranks} />}
    </section>
  );
}

function Measures({ ranks }: { ranks: RunRanks }) {
  return (
    <>
      <Table
        name="Ranks"
        isTall
        heads={[
          "quantity",
          "measured by",
          "place",
          "#rank",
          "node",
          "#times",
          "#mean",
          "#from, to",
          "#newest at byte",
        ]}
        rows={ranks.measures.map((measure) => [
          rankQuantity(measure),
          rankSource(measure),
          measure.place,
          rankName(measure),
          measure.node ?? kUnknown,
          formatCount(measure.count),
          rankValue(measure.value_mean, measure.unit),
          rankRange(measure),
          <LogLink offset={measure.offset}>{formatCount(measure.offset)}</LogLink>,
        ])}
      />
      <p class="sub">
        Times: how often the rank was named in that place, over the whole log. Others were named
        less often than the ranks that have rows.
        {ranks.values_left_out > 0 &&
          ` ${formatPlural(ranks.values_left_out, "value")} found no row.`}
      </p>
    </>
  );
}
