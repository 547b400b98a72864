// A text to filter by. Typing waits for a pause; what else is chosen meanwhile stands.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { place, steppedFrom } from "../state/location";

const kTypingPauseMs = 250;

interface Props {
  label: string;
  placeholder: string;
  value: string;
  onChange: (value: string) => void;
}

export function TypedFilter({ label, placeholder, value, onChange }: Props) {
  const [text, setText] = useState(value);
  const input = useRef<HTMLInputElement>(null);
  const sent = useRef(value);
  const latest = useRef(onChange);
  latest.current = onChange; // the one that was drawn when a key was pressed knows no later choice
  // The URL may change under the field (back, clear), but must not undo what is being typed.
  useLayoutEffect(() => {
    if (value !== sent.current) setText(value);
    sent.current = value;
  }, [value]);
  // What was typed before "back" is of the page that was left.
  useLayoutEffect(() => {
    if (steppedFrom.peek()) setText(value);
  }, [place.value]);
  useEffect(() => {
    if (text === sent.current) return;
    const from = place.peek();
    const timer = setTimeout(() => {
      if (steppedFrom.peek() && place.peek() !== from) return;
      // The field went with what was cleared, or shows another text by now.
      if (input.current?.value !== text) return;
      sent.current = text;
      latest.current(text);
    }, kTypingPauseMs);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <label class="field field-text">
      <span>{label}</span>
      <input
        ref={input}
        type="search"
        value={text}
        placeholder={placeholder}
        spellcheck={false}
        onInput={(event) => setText(event.currentTarget.value)}
      />
    </label>
  );
}
