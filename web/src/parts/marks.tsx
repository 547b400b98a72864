// Why a run is no performance result like others, in a word each.
import { markWord } from "../mark_words";

export function Marks({ marks }: { marks: readonly string[] }) {
  return (
    <>
      {marks.map((mark) => (
        <b key={mark} class="mark">
          {markWord(mark)}
        </b>
      ))}
    </>
  );
}
