// Why a run is no performance result like others, in a word each.
const kWords: Record<string, string> = {
  none: "without a mark",
  profiled: "profiled",
  traced: "traced",
  function_check: "checkpoint load",
  proxy: "proxy",
  on_cpu: "on CPU",
};

export function markWord(mark: string): string {
  return kWords[mark] ?? mark.replaceAll("_", " ");
}

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
