// A submission, first looked at (a dry run: every value with its origin, the notes, what sbatch would
// be told) and then sent.
import { useEffect, useState } from "preact/hooks";
import { asProblem, dryRunJobs, fetchRecipes, submitJobs, type Problem } from "../api/client";
import type { DryRun, Job, Recipe, Submitted } from "../api/types";
import { formatCount, formatPlural, formatWorkload } from "../format";
import { sentWords } from "../job_words";
import { JobStateMark } from "../parts/job_state";
import { ProblemPanel } from "../parts/panels";
import { Sentences } from "../parts/sentences";
import { Table } from "../parts/table";
import { TokenField } from "../parts/token_field";
import { queryValue } from "../state/page_query";
import {
  alikeRuns,
  kBackends,
  kEmptySubmission,
  kSubmissionKeys,
  SubmissionKeys,
  submissionOf,
  submissionProblems,
  type AlikeRuns,
  type SubmissionFields,
  type SubmissionProblems,
} from "../state/submission";

type Outcome =
  | { kind: "dry"; runs: DryRun[]; asked: string }
  | { kind: "sent"; answer: Submitted }
  | { kind: "problem"; problem: Problem };

function prefilled(): SubmissionFields {
  const fields = { ...kEmptySubmission };
  for (const key of kSubmissionKeys) {
    const value = queryValue(key);
    if (value) fields[key] = value;
  }
  return fields;
}

// Not randomUUID(), which pages served without TLS lack.
function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

// A request that is sent again because its answer was lost submits once, also by a form opened anew.
const submissionKeys = new SubmissionKeys(randomKey);

// `jobs`: the newest, as they are now.
export function SubmitForm({ isOpen, jobs }: { isOpen: boolean; jobs: Job[] }) {
  const [recipes, setRecipes] = useState<Recipe[]>([]);
  const [fields, setFields] = useState(prefilled);
  const [token, setToken] = useState("");
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  const [isBusy, setIsBusy] = useState(false);
  useEffect(() => {
    const abort = new AbortController();
    void fetchRecipes(abort.signal).then(
      ({ recipes: all }) => setRecipes(all),
      () => undefined, // the fields take any text without it
    );
    return () => abort.abort();
  }, []);
  const set = (key: keyof SubmissionFields, value: SubmissionFields[typeof key]) =>
    setFields((before) => ({ ...before, [key]: value }));
  const problems = submissionProblems(fields);
  const body = JSON.stringify(submissionOf(fields));
  const wasLookedAt = outcome?.kind === "dry" && outcome.asked === body;
  const isOld = outcome?.kind === "dry" && outcome.asked !== body;
  const send = async (isDry: boolean) => {
    setIsBusy(true);
    try {
      if (isDry) {
        const { dry_runs: runs } = await dryRunJobs(body, token.trim());
        setOutcome({ kind: "dry", runs, asked: body });
      } else {
        const answer = await submitJobs(body, token.trim(), submissionKeys.keyOf(body));
        submissionKeys.succeeded(body);
        setOutcome({ kind: "sent", answer });
      }
    } catch (error) {
      setOutcome({ kind: "problem", problem: asProblem(error) });
    } finally {
      setIsBusy(false);
    }
  };
  const hasProblems = Object.keys(problems).length > 0;
  const isFilled = fields.workload !== "" && token.trim() !== "" && !hasProblems;
  const isReady = isFilled && !isBusy;
  return (
    <details class="twin submit" open={isOpen}>
      <summary>Submit jobs</summary>
      <form
        class="filters"
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady) void send(true);
        }}
      >
        <RecipeFields recipes={recipes} fields={fields} problems={problems} onSet={set} />
        <TokenField token={token} onToken={setToken} />
        {/* What becomes disabled loses the focus: while the server works, they only look so. */}
        <button type="submit" disabled={!isFilled} aria-disabled={!isReady}>
          Look at it first
        </button>
        <button
          type="button"
          aria-describedby="form-changed"
          aria-disabled={!isReady || !wasLookedAt}
          onClick={() => {
            if (isReady && wasLookedAt) void send(false);
          }}
        >
          Submit
        </button>
      </form>
      <p class="hint">
        The first button is a dry run: nothing is submitted. Make a token with{" "}
        <code>llmb-report token create NAME --scope submit</code>; the configuration lists it under{" "}
        <code>submitters</code>.
      </p>
      <p class="hint form-changed" id="form-changed" role="status">
        {isOld && "The form has changed: look again."}
      </p>
      {outcome && (
        <div class={isOld ? "is-old" : undefined}>
          <OutcomePanel outcome={outcome} jobs={jobs} />
        </div>
      )}
    </details>
  );
}

interface RecipeFieldsProps {
  recipes: Recipe[];
  fields: SubmissionFields;
  problems: SubmissionProblems;
  onSet: (key: keyof SubmissionFields, value: string | boolean) => void;
}

function unique(values: (string | number)[]): string[] {
  return [...new Set(values.map(String))].sort((a, b) =>
    a.localeCompare(b, "en", { numeric: true }),
  );
}

// What the catalog has is suggested; other values may be typed, and the server says what it lacks.
function RecipeFields({ recipes, fields, problems, onSet }: RecipeFieldsProps) {
  const of = recipes.filter(
    (recipe) => !fields.workload || recipe.workload === fields.workload.trim(),
  );
  const sized = of.filter(
    ({ model_size: size }) => !fields.model_size || size === fields.model_size.trim(),
  );
  const text = (
    key: (typeof kSubmissionKeys)[number],
    label: string,
    suggestions: string[],
    placeholder = "",
    problem: string | undefined = undefined,
  ) => (
    <div class="field">
      <p class="field-problem" id={`submit-${key}-problem`} role="alert">
        {problem}
      </p>
      <label class="field">
        <span>{label}</span>
        <input
          list={suggestions.length > 0 ? `submit-${key}` : undefined}
          value={fields[key]}
          placeholder={placeholder}
          spellcheck={false}
          autocomplete="off"
          aria-invalid={problem !== undefined}
          aria-describedby={`submit-${key}-problem`}
          onInput={(event) => onSet(key, event.currentTarget.value)}
        />
        <datalist id={`submit-${key}`}>
          {suggestions.map((value) => (
            <option key={value} value={value} />
          ))}
        </datalist>
      </label>
    </div>
  );
  return (
    <>
      {text("workload", "workload", unique(recipes.map(({ workload }) => workload)))}
      {text("model_size", "model size", unique(of.map(({ model_size: size }) => size)))}
      {text("dtype", "dtype", unique(sized.flatMap(({ dtypes }) => dtypes)))}
      {text("gpu_type", "GPU type", unique(sized.map(({ gpu_type: type }) => type)))}
      {text(
        "scale",
        "GPUs, one job for each number",
        unique(sized.map(({ gpu_count_min: count }) => count)),
        "128, 256",
        problems.scale,
      )}
      {text("repeats", "repeats", [], "1", problems.repeats)}
      <label class="field">
        <span>backend of the runner</span>
        <select
          value={fields.backend}
          onChange={(event) => onSet("backend", event.currentTarget.value)}
        >
          <option value="">the cluster's</option>
          {kBackends.map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <label class="switch">
        <input
          type="checkbox"
          checked={fields.proxy}
          onChange={(event) => onSet("proxy", event.currentTarget.checked)}
        />
        a proxy of fewer layers
      </label>
    </>
  );
}

function OutcomePanel({ outcome, jobs }: { outcome: Outcome; jobs: Job[] }) {
  switch (outcome.kind) {
    case "problem":
      return <ProblemPanel problem={outcome.problem} />;
    case "dry":
      return (
        <>
          {alikeRuns(outcome.runs).map(({ run, count }, at) => (
            <DryRunPanel key={at} run={run} count={count} />
          ))}
        </>
      );
    case "sent":
      return <SentPanel answer={outcome.answer} jobs={jobs} />;
  }
}

// Follows what was sent: the answer is of when it was sent, the list of jobs of now.
function SentPanel({ answer, jobs }: { answer: Submitted; jobs: Job[] }) {
  const now = answer.jobs.map((sent) => {
    const listed = jobs.find(({ id }) => id === sent.id);
    return listed && listed.revision >= sent.revision ? listed : sent;
  });
  return (
    <section class="panel" role="status">
      <h2>{sentWords(now)}</h2>
      <ul>
        {now.map((job) => (
          <li key={job.id}>
            <a href={`/jobs/${job.id}`}>{job.experiment}</a>
            <span class="sub">
              <JobStateMark state={job.state} /> {job.trouble ?? job.state_reason ?? ""}
            </span>
          </li>
        ))}
      </ul>
      <Sentences sentences={answer.notes} />
    </section>
  );
}

// A recipe's launch.sh submits by itself, with these variables and no others.
function Variables({ variables }: { variables: NonNullable<DryRun["variables"]> }) {
  return (
    <Table
      name="Environment of launch.sh"
      heads={["variable", "value"]}
      rows={variables.map(({ name, value }) => [
        name,
        <span class="wraps">{value ?? "set: a secret, which is not shown"}</span>,
      ])}
    />
  );
}

function DryRunPanel({ run, count }: AlikeRuns) {
  return (
    <section class="panel dry-run" role="status">
      <h2>
        {formatWorkload(run.experiment)}
        {count > 1 && `, ${formatCount(count)} times`}
      </h2>
      <p>
        Would run on {formatPlural(run.nodes, "node")} of {formatCount(run.ranks_per_node)} GPUs
        {count > 1 && " each"}, in <code>{run.run_folder}</code>.
      </p>
      <Sentences sentences={run.notes} />
      <details class="twin">
        <summary>Every value, and where it came from</summary>
        <Table
          name="Values of the submission"
          heads={["name", "value", "origin"]}
          rows={run.values.map(({ name, value, origin }) => [
            name,
            <span class="wraps">{value}</span>,
            origin,
          ])}
        />
      </details>
      <details class="twin">
        <summary>What {run.variables ? "launch.sh" : "sbatch"} would be told</summary>
        <pre class="command" tabIndex={0}>
          {run.arguments.join(" ")}
          {run.script !== null && `\n\n${run.script}`}
        </pre>
        {run.variables !== null && <Variables variables={run.variables} />}
      </details>
    </section>
  );
}
