// Asks for a window: two iterations, or last; and gives back the usual one.
import { useLayoutEffect, useState } from "preact/hooks";
import { askedWindow, windowProblem } from "../state/window";
import { PassingButton } from "./passing_button";
import { useTyped } from "./typed";

interface Props {
  label: string;
  chosen: string; // empty: the usual one
  usual?: string; // without it, each run has its own
  onChoose: (window: string) => void; // empty: the usual one
}

const fieldBeside = (button: HTMLElement) => button.closest("form")?.querySelector("input");

export function WindowForm({ label, chosen, usual = "", onChoose }: Props) {
  const current = chosen || usual;
  const [text, setText] = useTyped(current);
  const [complaint, setComplaint] = useState<string | null>(null);
  useLayoutEffect(() => setComplaint(null), [current]);
  const submit = (event: Event) => {
    event.preventDefault();
    const asked = askedWindow(text);
    setComplaint(asked === null ? windowProblem(text) : null);
    if (asked !== null) onChoose(asked === usual ? "" : asked);
  };
  return (
    <form class="window-form" onSubmit={submit}>
      <label class="field">
        <span>{label}</span>
        <input
          type="text"
          name="window"
          size={9}
          value={text}
          placeholder="each its own"
          autocomplete="off"
          spellcheck={false}
          aria-invalid={complaint !== null}
          aria-describedby="window-complaint"
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>
      <button type="submit">Apply</button>
      {chosen && chosen !== usual && (
        <PassingButton class="quiet" heir={fieldBeside} onClick={() => onChoose("")}>
          {usual ? `Back to ${usual}` : "Each its own"}
        </PassingButton>
      )}
      <p class="field-problem" id="window-complaint" role="alert">
        {complaint}
      </p>
    </form>
  );
}
