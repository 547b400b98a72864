#include "tests/server/cli/training_logs.h"

#include <array>
#include <cstdio>

namespace llmb::cli {

std::string nemo_log(int last, int declared_last) {
  std::string log = "[NeMo I 2025-06-15 15:06:40 nemo_logging:393] starting\n";
  for (int i = 0; i <= last; ++i) {
    log += "Training epoch 0, iteration " + std::to_string(i) + "/" +
           std::to_string(declared_last) +
           " | lr: 1.5e-07 | global_batch_size: 256 | global_step: " + std::to_string(i) +
           " | reduced_train_loss: 11.03 | train_step_timing in s: " + (i % 2 == 0 ? "2" : "3") +
           " | TFLOPS_per_GPU: 500";
    if (i > 0) log += " | consumed_samples: " + std::to_string(256 * (i + 1));
    log += "\n";
  }
  return log;
}

std::string megatron_bridge_log(int last) {
  std::string log;
  for (int i = 1; i <= last; ++i) {
    std::array<char, 600> line{};
    std::snprintf(line.data(), line.size(),
                  "Step Time : 1.50s GPU utilization: 700.0MODEL_TFLOP/s/GPU\n"
                  " [2025-12-22 15:18:%02d] iteration %8d/      50 | consumed samples: %12d | "
                  "elapsed time per iteration (ms): 1500.0 | learning rate: 1.000000E-04 | "
                  "global batch size:    64 | lm loss: 1.100000E+01 | loss scale: 1.0 | "
                  "grad norm: 1.500 | number of skipped iterations:   0 | "
                  "number of nan iterations:   0 |\n",
                  i % 60, i, 64 * i);
    log += line.data();
  }
  return log;
}

std::string experiment_log_path(const std::string& name, int job) {
  return "experiments/" + name + "/" + name + "_1750000000/" + name + "/log-acct-acct." + name +
         "_" + std::to_string(job) + "_0.out";
}

}  // namespace llmb::cli
