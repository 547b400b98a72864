// A workload folder with logs of Grok-1 that grow, as the recipes leave them, and what a daemon
// that follows it has read of them.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "tests/server/serve/daemon_process.h"

namespace llmb::cli {

class GrowingTree {
 public:
  static constexpr const char* kExperiment =
      "pretrain_grok1_314b_fp8_cs_gpus128_tp4_pp8_cp2_vp8_ep1_etp1_mbs1_gbs1024";

  explicit GrowingTree(std::filesystem::path root) : root_(std::move(root)) {}

  const std::filesystem::path& root() const { return root_; }
  std::filesystem::path log(int job = 123) const {
    const std::string name = kExperiment;
    return root_ / "experiments" / name / (name + "_1766415600") / name /
           ("log-team-a." + name + "_" + std::to_string(job) + "_0.out");
  }
  void append_steps(int first, int last, int job = 123) const {
    std::filesystem::create_directories(log(job).parent_path());
    std::ofstream output(log(job), std::ios::app);
    for (int i = first; i <= last; ++i) {
      output << "Training epoch 0, iteration " << i << "/49 | lr: 1e-05 | global_batch_size: 1024 "
             << "| global_step: " << i << " | reduced_train_loss: 11.2 | train_step_timing in s: "
             << "7.5 | consumed_samples: " << 1024 * (i + 1) << " | TFLOPS_per_GPU: 812.5\n";
    }
  }

 private:
  std::filesystem::path root_;
};

// Of all runs together.
inline bool waits_for_steps(DaemonProcess& daemon, int wanted) {
  return wait_until([&] {
    const Answer answer = daemon.get("/api/v1/runs");
    if (answer.status != 200) return false;
    const auto runs = answer.json()["runs"];
    int steps = 0;
    for (const auto& run : runs) steps += run["step_count"].get<int>();
    return steps == wanted;
  });
}

}  // namespace llmb::cli
