// A text to filter by. Typing waits for a pause.
import { useEffect, useRef, useState } from "preact/hooks";

const kTypingPauseMs = 250;

interface Props {
  label: string;
  placeholder: string;
  value: string;
  onChange: (value: string) => void;
}

export function TypedFilter({ label, placeholder, value, onChange }: Props) {
  const [text, setText] = useState(value);
  const sent = useRef(value);
  // The URL may change under the field (back, clear), but must not undo what is being typed.
  useEffect(() => {
    if (value !== sent.current) setText(value);
    sent.current = value;
  }, [value]);
  useEffect(() => {
    if (text === sent.current) return;
    const timer = setTimeout(() => {
      sent.current = text;
      onChange(text);
    }, kTypingPauseMs);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <label class="field field-text">
      <span>{label}</span>
      <input
        type="search"
        value={text}
        placeholder={placeholder}
        spellcheck={false}
        onInput={(event) => setText(event.currentTarget.value)}
      />
    </label>
  );
}
