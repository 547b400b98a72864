// The filter of runs by the days of their launches, in the zone that the page shows.
import { FilterPopUp } from "../parts/filter_pop_up";
import { PassingButton, summaryAround } from "../parts/passing_button";
import { useTyped } from "../parts/typed";
import {
  beforeDayAfter,
  firstDay,
  hasLaunchBounds,
  isDay,
  lastDay,
  launchWords,
  sinceDay,
} from "../state/launch_days";
import type { ListState } from "../state/list_state";
import { zone } from "../state/zone";

interface Props {
  state: ListState;
  onChange: (bounds: Pick<ListState, "since" | "before">) => void;
}

export function LaunchDays({ state: { since, before }, onChange }: Props) {
  const first = firstDay(since, zone.value);
  const last = lastDay(before, zone.value);
  const isSet = hasLaunchBounds({ since, before });
  return (
    <FilterPopUp label="launched" text={launchWords(since, before, zone.value)} isSet={isSet}>
      <fieldset class="choice-list range-list">
        <legend class="visually-hidden">launched</legend>
        <div class="range">
          <DayField
            label="first day"
            day={first}
            onChange={(day) => onChange({ since: day && sinceDay(day, zone.value), before })}
          />
          <DayField
            label="last day"
            day={last}
            onChange={(day) => onChange({ since, before: day && beforeDayAfter(day, zone.value) })}
          />
        </div>
        {first !== "" && last !== "" && first > last && (
          <p class="field-problem" role="alert">
            The first day is after the last one.
          </p>
        )}
        <p class="sub">
          Days {zone.value === "utc" ? "of UTC" : "of your time zone"}. Of a run whose launch is not
          known, the day counts on which it was first seen.
        </p>
        {isSet && (
          <PassingButton
            class="quiet"
            heir={summaryAround}
            onClick={() => onChange({ since: "", before: "" })}
          >
            Any day
          </PassingButton>
        )}
      </fieldset>
    </FilterPopUp>
  );
}

interface DayFieldProps {
  label: string;
  day: string; // empty: none
  onChange: (day: string) => void;
}

// While a year is typed the field has days of other years, which must be no question, and must not
// be taken from under the fingers when the page is drawn anew.
function DayField({ label, day, onChange }: DayFieldProps) {
  const [typed, setTyped] = useTyped(day);
  const change = (text: string) => {
    setTyped(text);
    if (text === "" || isDay(text)) onChange(text);
  };
  return (
    <label class="field">
      <span>{label}</span>
      <input
        type="date"
        max="9998-12-31"
        value={typed}
        onChange={(event) => change(event.currentTarget.value)}
        onBlur={() => setTyped(day)}
      />
    </label>
  );
}
