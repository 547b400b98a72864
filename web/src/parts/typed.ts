// The text of a field while it is typed in: it holds until what the field stands for changes. That
// is taken over before the next key can come, so that no key is lost, and no other drawing of the
// page takes what was typed.
import { useLayoutEffect, useState } from "preact/hooks";

export function useTyped(shown: string): [string, (text: string) => void] {
  const [typed, setTyped] = useState(shown);
  useLayoutEffect(() => setTyped(shown), [shown]);
  return [typed, setTyped];
}
