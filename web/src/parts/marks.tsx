// Why a run is no performance result like others, in a word each.
import { markReasons, markWord } from "../mark_words";

export function Marks({ marks }: { marks: readonly string[] }) {
  return (
    <>
      {marks.map((mark) => (
        <b key={mark} class="mark" title={markReasons([mark]).join()}>
          {markWord(mark)}
        </b>
      ))}
    </>
  );
}
