// The document's title while a page is shown.
import { useEffect } from "preact/hooks";

export function usePageTitle(page: string): void {
  useEffect(() => {
    document.title = `${page} · llmb-report`;
  }, [page]);
}
