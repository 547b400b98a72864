// Keeps a chart as the page is: as wide as its place, and in the colours of its theme. On paper, of
// which a page is told nothing but that printing begins, it is as wide as a sheet.

const kPrinted = 670; // px of CSS: an A4 or Letter sheet less its margins and a card's padding
const kPrintedThird = 208; // where three stand side by side
const kPrintedHeight = 0.55; // of that on the page

export interface Drawn {
  height: number; // on the page
  size: () => { width: number };
  setSize: (size: { width: number; height: number }) => void;
  recolor: () => void;
}

// Gives what ends it.
export function followPage(host: HTMLElement, drawn: Drawn): () => void {
  const { height } = drawn;
  const scheme = matchMedia("(prefers-color-scheme: dark)");
  let isPrinting = false;
  const fit = () => {
    const width = host.clientWidth;
    if (!isPrinting && width > 0 && width !== drawn.size().width) drawn.setSize({ width, height });
  };
  const print = () => {
    isPrinting = true;
    drawn.recolor();
    const width = host.closest(".lesser-charts") ? kPrintedThird : kPrinted;
    drawn.setSize({ width, height: kPrintedHeight * height });
  };
  const done = () => {
    isPrinting = false;
    drawn.recolor();
    fit();
  };
  const observer = new ResizeObserver(fit);
  observer.observe(host);
  scheme.addEventListener("change", drawn.recolor);
  addEventListener("beforeprint", print);
  addEventListener("afterprint", done);
  return () => {
    observer.disconnect();
    scheme.removeEventListener("change", drawn.recolor);
    removeEventListener("beforeprint", print);
    removeEventListener("afterprint", done);
  };
}
