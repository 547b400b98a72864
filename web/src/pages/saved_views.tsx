// The reader's own views of the table: a list behind a button, and a field to keep the present one.
import { useState } from "preact/hooks";
import { PassingButton, summaryAround } from "../parts/passing_button";
import { PopUp } from "../parts/pop_up";
import { chooseColumns, chosenColumns } from "../state/columns";
import { writeListState, type ListState } from "../state/list_state";
import { forgetView, hasRoomFor, kViewsMax, savedViews, saveView } from "../state/views";

export function SavedViews({ state }: { state: ListState }) {
  const [name, setName] = useState("");
  const hasRoom = hasRoomFor(name.trim());
  const save = () => {
    const query = writeListState({ ...state, pick: [] }).toString();
    saveView({ name: name.trim(), query, columns: chosenColumns.value });
    setName("");
  };
  return (
    <PopUp summary="Views">
      <div class="choice-list">
        {savedViews.value.length === 0 && (
          <p class="sub">A view keeps filters, order and columns under a name.</p>
        )}
        <ul class="views">
          {savedViews.value.map((view) => (
            <li key={view.name}>
              <a
                href={view.query ? `/runs?${view.query}` : "/runs"}
                onClick={() => chooseColumns(view.columns)}
              >
                {view.name}
              </a>
              <PassingButton
                class="quiet"
                aria-label={`Forget the view ${view.name}`}
                heir={summaryAround}
                onClick={() => forgetView(view.name)}
              >
                ×
              </PassingButton>
            </li>
          ))}
        </ul>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            if (name.trim() && hasRoom) save();
          }}
        >
          <label class="field">
            <span>keep this view as</span>
            <input
              value={name}
              maxLength={60}
              onInput={(event) => setName(event.currentTarget.value)}
            />
          </label>
          <button type="submit" disabled={!name.trim() || !hasRoom}>
            Keep
          </button>
        </form>
        {!hasRoom && (
          <p class="sub">
            {kViewsMax} views are kept, and no more: forget one, or keep this one under its name.
          </p>
        )}
      </div>
    </PopUp>
  );
}
