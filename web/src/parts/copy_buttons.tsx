// Puts text on the clipboard, and says that it did, or shows the text where the browser forbids it.
import { useState } from "preact/hooks";
import { tableCsv, tableMarkdown } from "../export_text";

export function CopyButton({ label, text }: { label: string; text: () => string }) {
  const [state, setState] = useState<"idle" | "done" | "refused">("idle");
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
        {state === "done" && (
          <span role="status" class="hint">
            {" "}
            copied
          </span>
        )}
      </button>
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
