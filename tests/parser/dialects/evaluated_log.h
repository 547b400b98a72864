// What the evaluations of logs share: how a made-up log begins and counts, and how a log is judged.
#pragma once

#include <fmt/format.h>

#include <string>

#include "parser/reader/log_reader.h"
#include "parser/statistics/run_summary.h"

namespace llmb::parser {

// `count` step lines of NeMo, from iteration 0; `prefix` is its launcher's.
inline std::string nemo_step_lines(const std::string& prefix, int count) {
  std::string lines;
  for (int i = 0; i < count; ++i) {
    lines += prefix + fmt::format(
                          "Training epoch 0, iteration {}/49 | lr: 1e-06 | global_step: {} "
                          "| reduced_train_loss: {:.3f} | train_step_timing in s: {:.3f}\n",
                          i, i, 11 - 0.05 * i, 4.4 + 0.001 * (i % 7));
  }
  return lines;
}

// What a log holds before anything goes wrong, ill-looking lines that harm nobody included.
inline const std::string kStartOfALog =
    "+ srun --container-image=/lustre/images/nemo.sqsh bash -c train.sh\n"
    "node-1:811:811 [0] NCCL INFO NET/Plugin: Could not find: libnccl-net.so. libnccl-net.so: "
    "cannot open shared object file: No such file or directory\n"
    "[W1222 15:10:01.1 socket.cpp:697] [c10d] The client socket has failed to connect to "
    "[node-1]:29500 (errno: 111 - Connection refused).\n"
    "Ignored error while writing commit hash to file: [Errno 13] Permission denied: '/opt/x'\n"
    "/usr/lib/python3/site-packages/torch/cuda/__init__.py:129: UserWarning: CUDA initialization: "
    "Found no NVIDIA driver on your system.\n"
    "[NeMo W 2025-12-22 15:10:02 nemo_logging:405] Missing key(s) in state_dict are ignored\n"
    "slurmstepd: error: couldn't chdir to `/home/u/run': No such file or directory: going to /tmp "
    "instead\n"
    "# a comment: CUDA out of memory is handled below\n"
    "  on_failure: kill the job DUE TO TIME LIMIT\n";

// Of causes that are separated by blanks.
inline bool is_among(const std::string& causes, const std::string& cause) {
  return !cause.empty() && (" " + causes + " ").find(" " + cause + " ") != std::string::npos;
}

// Over the window 11-44.
inline RunSummary judge_text(const std::string& text, bool may_still_grow) {
  const ParsedLog log = parse_log(text);
  return summarize_run(log.samples, log.facts, {11, 44}, may_still_grow);
}

}  // namespace llmb::parser
