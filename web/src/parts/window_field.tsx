// One window for all runs of a page, in the URL; without it each run's own counts.
import { useEffect, useState } from "preact/hooks";
import { queryValue, setQuery } from "../state/page_query";
import { parseWindow, windowProblem, windowText } from "../state/window";

export function WindowField() {
  const current = queryValue("window");
  const [text, setText] = useState(current);
  const [complaint, setComplaint] = useState<string | null>(null);
  useEffect(() => {
    setText(current);
    setComplaint(null);
  }, [current]);
  const submit = (event: Event) => {
    event.preventDefault();
    const wanted = text.trim().toLowerCase();
    const window = parseWindow(wanted);
    if (wanted === "" || wanted === "last") setQuery("window", wanted);
    else if (window) setQuery("window", windowText(window));
    setComplaint(wanted === "" || wanted === "last" ? null : windowProblem(wanted));
  };
  return (
    <form class="window-form" onSubmit={submit}>
      <label class="field">
        <span>window for all</span>
        <input
          type="text"
          name="window"
          size={9}
          value={text}
          placeholder="each its own"
          autocomplete="off"
          spellcheck={false}
          aria-invalid={complaint !== null}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>
      <button type="submit">Apply</button>
      {current && (
        <button type="button" class="quiet" onClick={() => setQuery("window", "")}>
          Each its own
        </button>
      )}
      <p class="field-problem" role="alert">
        {complaint}
      </p>
    </form>
  );
}
