// What is to be said in sentences, as a list; nothing where there is nothing to say.
import type { ComponentChildren } from "preact";

interface Props {
  sentences: readonly string[];
  first?: ComponentChildren; // a sentence before them that is more than text
  look?: "notes" | "insight" | "findings";
}

export function Sentences({ sentences, first, look = "notes" }: Props) {
  if (sentences.length === 0 && !first) return null;
  return (
    <ul class={look}>
      {first && <li>{first}</li>}
      {sentences.map((sentence) => (
        <li key={sentence}>{sentence}</li>
      ))}
    </ul>
  );
}
