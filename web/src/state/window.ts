// A Window as the page reads it: "11-44", a closed range of iterations, or "7", one; and as it and
// the API write it: "11-44", "7-7".

export interface IterationWindow {
  first: number;
  last: number;
}

const kWindow = /^\s*(\d{1,9})(?:\s*[-–]\s*(\d{1,9}))?\s*$/;

export function parseWindow(text: string): IterationWindow | null {
  const match = kWindow.exec(text);
  if (!match) return null;
  const first = Number(match[1]);
  const last = Number(match[2] ?? match[1]);
  return first <= last ? { first, last } : null;
}

export function windowText({ first, last }: IterationWindow): string {
  return `${first}-${last}`;
}

export function windowProblem(text: string): string | null {
  if (parseWindow(text)) return null;
  return kWindow.test(text)
    ? "The first iteration is after the last one."
    : "Give one iteration, two with a hyphen between them, such as 11-44, or last for the last step.";
}

// What the API is asked for: "11-44", "last", or nothing for the usual window. Null: none of them.
export function askedWindow(text: string): string | null {
  const wanted = text.trim().toLowerCase();
  if (wanted === "" || wanted === "last") return wanted;
  const window = parseWindow(wanted);
  return window ? windowText(window) : null;
}

export function windowHolds(window: IterationWindow | null, iteration: number): boolean {
  return window !== null && iteration >= window.first && iteration <= window.last;
}
