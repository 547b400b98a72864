// The turns of a question that is asked again while it is on its way: what comes of it late, be it
// an answer or a failure, does not stand over what has come of a newer turn.
export class Turns {
  private begun = 0;
  private settled = 0; // the newest of which something has come

  begin(): number {
    this.begun += 1;
    return this.begun;
  }

  // For what has come of that turn; false: something of a newer one was here before.
  settle(turn: number): boolean {
    if (turn < this.settled) return false;
    this.settled = turn;
    return true;
  }
}
