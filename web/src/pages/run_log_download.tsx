// The link that saves a run's log as a file. The browser would keep what a server answers in its
// place without a word, so it is asked first whether the log can be had; where not, the log's lines
// are opened, which say why.
import { fetchRunLog, runLogTextHref } from "../api/client";
import { lookAtLog } from "../state/log_place";

async function saveLog(id: number): Promise<void> {
  try {
    await fetchRunLog(id, new URLSearchParams({ offset: "0", before: "0", after: "0" }));
  } catch {
    lookAtLog(0);
    return;
  }
  const link = document.createElement("a");
  link.href = runLogTextHref(id);
  link.download = "";
  link.click();
}

export function RunLogDownload({ id }: { id: number }) {
  return (
    <a
      href={runLogTextHref(id)}
      download
      aria-label="Download the log"
      onClick={(event) => {
        event.preventDefault();
        void saveLog(id);
      }}
    >
      Download
    </a>
  );
}
