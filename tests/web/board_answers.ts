// What the tests of the board ask of it: answers of the API with one measured point.
import assert from "node:assert/strict";
import type { MeanEstimate, PublishedStanding, Reference, Scaling } from "../../web/src/api/types";
import { boardRows } from "../../web/src/state/board";

export const ofOne = (references: readonly Reference[], scaling: Scaling) =>
  boardRows(references, { cluster: null, scaling }, "utc");

export const kPublicNoise = {
  source: "public runs",
  stddev: 0.0007,
  degrees_of_freedom: 4,
  configuration_count: 0,
  run_count: 0,
  repeat_count: 0,
};

const rate = (mean: number): MeanEstimate => ({
  run_count: 1,
  mean,
  stddev_sample: null,
  low: null,
  high: null,
});

// Bounds as far from the speed, in logarithms, on either side.
export const standing = (speed: number, low: number | null, changes = {}): PublishedStanding => ({
  verdict: "not_decided",
  speed,
  speed_low: low,
  speed_high: low === null ? null : (speed * speed) / low,
  line: 1,
  confidence: 0.95,
  noise: kPublicNoise,
  ...changes,
});

export const reference = (changes: Partial<Reference>): Reference => ({
  workload: "pretrain_grok1",
  model_size: "314b",
  dtype: "bf16",
  gpu_type: "h100",
  gpu_count: 512,
  release: "24.11",
  step_time_s: 20.83,
  tokens_per_s: null,
  mfu_percent: null,
  days_to_train_1t: null,
  document: "grok1-24.11",
  line: 33,
  column: 7,
  source: null,
  has_recipe: true,
  is_proxy: false,
  ...changes,
});

type LeftOutMark = "failed" | "incomplete" | "invalid" | "profiled";

export function scaling(stands: PublishedStanding | null, marks: LeftOutMark | null): Scaling {
  const left = {
    id: 9,
    experiment: "x",
    job_id: null,
    path: "x",
    launched_at: null,
    grown_at: "2026-03-01T08:00:00Z",
    window: "11-44",
    gpu_count: 512,
    marks: marks ? [{ mark: marks, reason: `${marks}: all is lost` }] : [],
    reason: "",
    tokens_per_s_per_gpu: null as number | null,
    copy_of: null as number | null,
  };
  return {
    method: "",
    confidence: 0.95,
    unplaced: [],
    unplaced_groups: [],
    older_runs_left_out: 0,
    series: [
      {
        workload: "grok1",
        model_size: "314b",
        dtype: "bf16",
        gpu_type: "h100",
        cluster: null,
        differences: [],
        scaling: "baseline",
        marks: [],
        document: null,
        published: [],
        left_out: marks ? [left] : [],
        left_out_groups: marks ? [{ gpu_count: 512, marks: [marks], are_copies: false, run_count: 30 }] : [],
        points: stands
          ? [
              {
                gpu_count: 512,
                global_batch_size: 1024,
                scaling: "baseline",
                differences: [],
                tokens_per_s_per_gpu: rate(100),
                efficiency: 1,
                efficiency_reason: null,
                speed_against_reference: rate(stands.speed ?? 0),
                published_standing: stands,
                runs: [
                  {
                    id: 7,
                    experiment: "x",
                    job_id: null,
                    path: "x",
                    launched_at: "2026-02-01T08:00:00Z",
                    grown_at: "2026-03-01T08:00:00Z",
                    window: "11-44",
                    tokens_per_s_per_gpu: 100,
                  },
                ],
              },
            ]
          : [],
      },
    ],
  };
}

// Of one run, by its dtype and id.
export function measured(dtype: string, id: number, cluster: string | null = null): Scaling {
  const answers = scaling(standing(1, 0.97), null);
  const [series] = answers.series;
  const run = series?.points[0]?.runs[0];
  assert.ok(series && run);
  series.dtype = dtype;
  series.cluster = cluster;
  run.id = id;
  return answers;
}

export const joined = (...all: Scaling[]): Scaling => ({
  ...scaling(null, null),
  series: all.flatMap(({ series }) => series),
});
