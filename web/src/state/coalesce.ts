// Gathers bursts of changes: `flush` gets every id of a burst once, at most one burst at a time,
// never sooner than `intervalMs` after the one before began.

export class Coalescer {
  private pending = new Set<number>();
  private isScheduled = false;
  private isStopped = false;

  constructor(
    private readonly intervalMs: number,
    private readonly flush: (ids: number[]) => Promise<void>,
    private readonly later: (action: () => void, delayMs: number) => void = (action, delayMs) => {
      setTimeout(action, delayMs);
    },
  ) {}

  add(id: number): void {
    this.pending.add(id);
    this.schedule();
  }

  stop(): void {
    this.isStopped = true;
    this.pending.clear();
  }

  private schedule(): void {
    if (this.isScheduled || this.isStopped || this.pending.size === 0) return;
    this.isScheduled = true;
    this.later(() => void this.run(), this.intervalMs);
  }

  private async run(): Promise<void> {
    const ids = [...this.pending];
    this.pending.clear();
    try {
      if (!this.isStopped) await this.flush(ids);
    } finally {
      this.isScheduled = false;
      this.schedule();
    }
  }
}
