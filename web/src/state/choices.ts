// What a reader chose for this browser, as JSON under one key each. A browser may forbid storage: a
// choice then lasts as long as the page.
import { signal, type Signal } from "@preact/signals";

export interface Choice<T> {
  readonly value: Signal<T>;
  set(value: T): void;
  // From what is stored by now: another page of this browser may have changed it.
  change(from: (stored: T) => T): void;
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
  let isStored = true; // what was set last
  function set(next: T): void {
    value.value = next;
    try {
      localStorage.setItem(key, JSON.stringify(next));
      isStored = true;
    } catch {
      isStored = false; // as above
    }
  }
  // What another page chose; of no key: all is forgotten. Outside a browser there is no other.
  globalThis.addEventListener?.("storage", (event) => {
    if (event.key === key || event.key === null) value.value = read() ?? usual;
  });
  const newest = () => (isStored ? read() : null) ?? value.value;
  return { value, set, change: (from) => set(from(newest())) };
}
