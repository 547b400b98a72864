// What a reader chose for this browser, as JSON under one key each. A browser may forbid storage: a
// choice then lasts as long as the page.
import { signal, type Signal } from "@preact/signals";

export interface Choice<T> {
  readonly value: Signal<T>;
  set(value: T): void;
}

// `accept` gives the stored value if it is one, and null otherwise.
export function storedChoice<T>(
  key: string,
  usual: T,
  accept: (stored: unknown) => T | null,
): Choice<T> {
  const value = signal<T>(read() ?? usual);
  function read(): T | null {
    try {
      const text = localStorage.getItem(key);
      return text === null ? null : accept(JSON.parse(text));
    } catch {
      return null;
    }
  }
  return {
    value,
    set(next: T) {
      value.value = next;
      try {
        localStorage.setItem(key, JSON.stringify(next));
      } catch {
        // As above.
      }
    },
  };
}
