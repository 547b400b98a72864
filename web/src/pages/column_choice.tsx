// Which columns the table of runs shows: a list of switches behind a button.
import { PassingButton, summaryAround } from "../parts/passing_button";
import { PopUp } from "../parts/pop_up";
import { chooseColumns, chosenColumns, columnsWithoutRoom } from "../state/columns";
import { isWideScreen } from "../state/wide_screen";
import { kColumns, kNameColumn, shownColumns } from "./runs_columns";

export function ColumnChoice() {
  const columns = shownColumns(chosenColumns.value, isWideScreen.value);
  const shown = new Set(columns.map(({ key }) => key));
  const toggle = (key: string) => {
    if (shown.has(key)) shown.delete(key);
    else shown.add(key);
    chooseColumns([...shown]);
  };
  const lacksRoom = (key: string) => columnsWithoutRoom.value.includes(key);
  return (
    <PopUp summary="Columns">
      <div class="choice-list">
        {kColumns
          .filter((column) => column !== kNameColumn)
          .map(({ key, title }) => (
            <label key={key} class="switch">
              <input type="checkbox" checked={shown.has(key)} onChange={() => toggle(key)} />
              {title}
              {shown.has(key) && lacksRoom(key) && <span class="sub">no room</span>}
            </label>
          ))}
        {chosenColumns.value && (
          <PassingButton
            class="quiet"
            heir={summaryAround}
            onClick={() => chooseColumns(null)}
          >
            The usual ones
          </PassingButton>
        )}
      </div>
    </PopUp>
  );
}
