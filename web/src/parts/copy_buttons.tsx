// Puts text on the clipboard, and says that it did, or shows the text where the browser forbids it.
import { useEffect, useState } from "preact/hooks";
import { tableCsv, tableMarkdown } from "../export_text";

const kToldMs = 4_000;

export function CopyButton({ label, text }: { label: string; text: () => string }) {
  const [state, setState] = useState<"idle" | "done" | "refused">("idle");
  useEffect(() => {
    if (state !== "done") return;
    const timer = setTimeout(() => setState("idle"), kToldMs);
    return () => clearTimeout(timer);
  }, [state]);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text());
      setState("done");
    } catch {
      setState("refused");
    }
  };
  return (
    <>
      <button type="button" class="quiet copy" onClick={() => void copy()}>
        {label}
      </button>
      <span role="status" class="hint copied">
        {state === "done" && "copied"}
      </span>
      {state === "refused" && (
        <textarea
          class="copy-text"
          aria-label="The text; the browser lets no page copy it"
          readOnly
          rows={6}
          value={text()}
          onFocus={(event) => event.currentTarget.select()}
        />
      )}
    </>
  );
}

export interface Exported {
  heads: string[];
  rows: string[][];
}

export function CopyTable({ table }: { table: () => Exported }) {
  return (
    <span class="copies no-print">
      <CopyButton
        label="Copy as Markdown"
        text={() => {
          const { heads, rows } = table();
          return tableMarkdown(heads, rows);
        }}
      />
      <CopyButton
        label="Copy as CSV"
        text={() => {
          const { heads, rows } = table();
          return tableCsv(heads, rows);
        }}
      />
    </span>
  );
}
