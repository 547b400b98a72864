// Shows one page more of a list. It goes with the last page, and the table above it has the focus then.
import { PassingButton } from "./passing_button";

const tableAbove = (button: HTMLElement) =>
  button.closest("section, main")?.querySelector<HTMLElement>(".scroll");

export function OlderButton({ what, onClick }: { what: string; onClick: () => void }) {
  return (
    <p class="no-print">
      <PassingButton class="quiet" heir={tableAbove} onClick={onClick}>
        Show older {what}
      </PassingButton>
    </p>
  );
}
