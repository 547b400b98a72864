// One answer of the API for one question, asked again when a run that concerns it changes. What was
// answered last stays while the next answer is on its way, and is known to be of another question.
import { useEffect, useMemo } from "preact/hooks";
import { batch, signal, type Signal } from "@preact/signals";
import { asProblem, isAbort, type Problem } from "../api/client";
import { live } from "../api/live";
import type { RunChange } from "../api/types";
import { Coalescer } from "./coalesce";
import { Turns } from "./turns";

const kRefreshEveryMs = 2_000;
const kGrowthEveryMs = 10_000; // logs grow all the time

export interface Answer<T> {
  readonly value: Signal<T | null>;
  readonly problem: Signal<Problem | null>;
  isOld: boolean; // the value is of the question before
  refresh: () => void;
}

export type AskFor<T> = (abort: AbortSignal) => Promise<T>;

// The last value with the question that it answers.
export class LastAnswer<T> {
  readonly value = signal<T | null>(null);
  readonly problem = signal<Problem | null>(null);
  private asked = "";
  private answered = "";
  private readonly turns = new Turns();

  isOldFor(question: string): boolean {
    return this.value.value !== null && this.answered !== question;
  }

  // Where it cannot be answered, a value of the question before is dropped: nothing would say any
  // more that it is none of this one. One of the same question stays below the problem.
  async ask(question: string, askFor: AskFor<T>, abort: AbortSignal): Promise<void> {
    if (question !== this.asked) this.problem.value = null;
    this.asked = question;
    const turn = this.turns.begin();
    try {
      const value = await askFor(abort);
      if (!this.turns.settle(turn)) return;
      this.answered = question;
      batch(() => {
        this.value.value = value;
        this.problem.value = null;
      });
    } catch (error) {
      if (isAbort(error) || !this.turns.settle(turn)) return;
      batch(() => {
        if (this.isOldFor(question)) this.value.value = null;
        this.problem.value = asProblem(error);
      });
    }
  }
}

// Whether a change of that run matters, of that kind; "later": it may wait with those that follow.
type Concern = (runId: number, kind: RunChange["kind"]) => boolean | "later";

// `question` names what `askFor` asks for. `concernsJob`: whether a change of that job matters.
// `turn`: another one asks the same question anew, later or for more of its answer.
export function useAnswer<T>(
  question: string,
  askFor: AskFor<T>,
  concerns: Concern,
  concernsJob: (job: number) => boolean = () => false,
  turn = 0,
): Answer<T> {
  const last = useMemo(() => new LastAnswer<T>(), []);
  const state = useMemo(() => ({ refresh: () => {} }), []);
  useEffect(() => {
    const abort = new AbortController();
    const load = () => last.ask(question, askFor, abort.signal);
    const refreshes = new Coalescer(kRefreshEveryMs, load);
    const growth = new Coalescer(kGrowthEveryMs, load);
    const unlisten = live.listen({
      onRun: ({ run_id: run, kind }) => {
        const concern = concerns(run, kind);
        if (concern === "later") growth.add(0);
        else if (concern) refreshes.add(0);
      },
      onJob: (change) => {
        if (concernsJob(change.job)) refreshes.add(0);
      },
      onReset: () => refreshes.add(0),
    });
    state.refresh = () => void load();
    void load();
    return () => {
      unlisten();
      refreshes.stop();
      growth.stop();
      abort.abort();
    };
  }, [question, turn]);
  const { value, problem } = last;
  return { value, problem, isOld: last.isOldFor(question), refresh: () => state.refresh() };
}
