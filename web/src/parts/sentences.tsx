// What is to be said in sentences, as a list; nothing where there is nothing to say.

interface Props {
  sentences: readonly string[];
  look?: "notes" | "insight" | "findings";
}

export function Sentences({ sentences, look = "notes" }: Props) {
  if (sentences.length === 0) return null;
  return (
    <ul class={look}>
      {sentences.map((sentence) => (
        <li key={sentence}>{sentence}</li>
      ))}
    </ul>
  );
}
