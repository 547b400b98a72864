// What is picked in the table of runs, and the way to the comparison of it.
import { formatPlural } from "../format";
import { PassingButton } from "../parts/passing_button";
import { compareHref, kPicksMax, kPicksMin } from "../state/picks";

interface Props {
  picks: number[];
  onClear: () => void;
}

const firstPick = () => document.querySelector<HTMLElement>("table.runs .col-pick input");

export function PickBar({ picks, onClear }: Props) {
  return (
    <div class="pick-bar" role="status">
      {picks.length === 0 ? (
        <span class="hint">
          Pick {kPicksMin} to {kPicksMax} runs to compare them.
        </span>
      ) : (
        <>
          <span>{formatPlural(picks.length, "run")} picked</span>
          {picks.length >= kPicksMin ? (
            <a class="action" href={compareHref(picks)} title="Key: c" aria-keyshortcuts="c">
              Compare
            </a>
          ) : (
            <span class="hint">pick another one to compare</span>
          )}
          <PassingButton class="quiet" heir={firstPick} onClick={onClear}>
            Pick none
          </PassingButton>
          {picks.length === kPicksMax && <span class="hint">no more than {kPicksMax}</span>}
        </>
      )}
    </div>
  );
}
