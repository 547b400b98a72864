// NeMo logs for the tests: written whole, or a few steps at a time while the page looks on.
import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";

export function experimentName(gpus, batch) {
  return `pretrain_grok1_314b_fp8_gpus${gpus}_tp4_pp8_cp1_vp8_ep8_etp1_mbs1_gbs${batch}`;
}

// 7.4 s and a little, the same for the same iteration; the first step is slow.
export function stepTime(iteration) {
  return iteration === 0 ? 231.7 : Number((7.38 + 0.003 * ((iteration * 7) % 5)).toPrecision(4));
}

function stepLine(iteration, last, isNan) {
  const loss = isNan ? "nan" : `11.${90 - iteration}`;
  const tflops =
    iteration === 0 ? "" : ` | TFLOPS_per_GPU: ${(4520 / stepTime(iteration)).toFixed(1)}`;
  return (
    `Training epoch 0, iteration ${iteration}/${last} | lr: 3e-07 | global_batch_size: 1024` +
    ` | global_step: ${iteration} | reduced_train_loss: ${loss}` +
    ` | train_step_timing in s: ${stepTime(iteration)}` +
    ` | consumed_samples: ${1024 * (iteration + 1)}${tflops}\n`
  );
}

export class NemoLog {
  constructor(
    tree,
    {
      gpus = 512,
      batch = 1024,
      jobId = 40001,
      launchedAt = 1750000000,
      experiment = "",
      last = 49,
      nanAt = [], // iterations whose loss is NaN
    },
  ) {
    this.nanAt = nanAt;
    this.last = last;
    this.experiment = experiment || experimentName(gpus, batch);
    const name = this.experiment;
    const folder = path.join(tree, "experiments", name, `${name}_${launchedAt}`, name);
    mkdirSync(folder, { recursive: true });
    this.file = path.join(folder, `log-acme_ml-ml.${name}_${jobId}_0.out`);
    this.next = 0;
    writeFileSync(this.file, "rank 0: initializing model parallel groups\n");
  }

  append(text) {
    appendFileSync(this.file, text);
  }

  // Up to and with that iteration.
  growTo(iteration) {
    let text = "";
    for (; this.next <= iteration; this.next += 1) {
      text += stepLine(this.next, this.last, this.nanAt.includes(this.next));
    }
    appendFileSync(this.file, text);
  }
}
