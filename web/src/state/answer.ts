// One answer of the API for one question, asked again when a run that concerns it changes. What was
// answered last stays while the next answer is on its way.
import { useEffect, useMemo } from "preact/hooks";
import { batch, signal, type Signal } from "@preact/signals";
import { asProblem, isAbort, type Problem } from "../api/client";
import { live } from "../api/live";
import type { RunChange } from "../api/types";
import { Coalescer } from "./coalesce";

const kRefreshEveryMs = 2_000;

export interface Answer<T> {
  readonly value: Signal<T | null>;
  readonly problem: Signal<Problem | null>;
  refresh: () => void;
}

// `question` names what `ask` asks for. `concerns`: whether a change of that run
// matters, of that kind; `concernsJob`: of that job.
export function useAnswer<T>(
  question: string,
  ask: (abort: AbortSignal) => Promise<T>,
  concerns: (runId: number, kind: RunChange["kind"]) => boolean,
  concernsJob: (job: number) => boolean = () => false,
): Answer<T> {
  const answer = useMemo(
    () => ({ value: signal<T | null>(null), problem: signal<Problem | null>(null) }),
    [],
  );
  const state = useMemo(() => ({ refresh: () => {} }), []);
  useEffect(() => {
    const abort = new AbortController();
    const load = async () => {
      try {
        const value = await ask(abort.signal);
        batch(() => {
          answer.value.value = value;
          answer.problem.value = null;
        });
      } catch (error) {
        if (!isAbort(error)) answer.problem.value = asProblem(error);
      }
    };
    const refreshes = new Coalescer(kRefreshEveryMs, () => load());
    const unlisten = live.listen({
      onRun: (change) => {
        if (concerns(change.run_id, change.kind)) refreshes.add(0);
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
      abort.abort();
    };
  }, [question]);
  return { ...answer, refresh: () => state.refresh() };
}
