// A click that no second one follows. What it does may move the page away from under the pointer, and
// the second click of two would miss what it is for.
export const kDoubleClickMs = 500; // in which a second click may follow

export class LoneClick {
  private turn = 0;

  constructor(
    private readonly later: (action: () => void, delayMs: number) => void = (action, delayMs) => {
      setTimeout(action, delayMs);
    },
  ) {}

  // `count`, here and below: of presses in a row. The second press of two tells it already.
  press(count: number): void {
    if (count > 1) this.forget();
  }

  // `waits`: a double click does something here; without that there is nothing to wait for.
  click(count: number, waits: boolean, act: () => void): void {
    this.forget();
    if (count > 1) return;
    const { turn } = this;
    const actUnlessForgotten = () => {
      if (turn === this.turn) act();
    };
    this.later(actUnlessForgotten, waits ? kDoubleClickMs : 0);
  }

  forget(): void {
    this.turn += 1;
  }
}
