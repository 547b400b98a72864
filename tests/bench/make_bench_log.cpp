// Writes a training log of a given size to stdout: 50 step lines among what NeMo, Megatron-Bridge,
// NCCL and PyTorch print around them. Deterministic: the same size gives the same bytes.
//
//   make_bench_log BYTES
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

class Random {  // xorshift64*
 public:
  unsigned below(unsigned bound) {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return static_cast<unsigned>((state_ * 2685821657736338717ULL) >> 33) % bound;
  }

 private:
  std::uint64_t state_ = 88172645463325252ULL;
};

// %u takes a random number; every line has at most four.
constexpr std::array kFillers = {
    "cw-dfw-h100-%03u:%u:%u [%u] NCCL INFO Channel 02/0 : 5[5] -> 13[5] [send] via NET/IB/3/GDRDMA",
    "cw-dfw-h100-%03u:%u:%u [%u] NCCL INFO Connected all rings, use ring PXN 1 GDR 1",
    "cw-dfw-h100-%03u:%u:%u [%u] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB [RO]; OOB",
    "[NeMo I 2025-12-22 15:%02u:%02u megatron_strategy:310] Fixing mis-match between ddp-config & "
    "mcore-optimizer config (%u, %u)",
    "[NeMo W 2025-12-22 15:%02u:%02u nemo_logging:405] /usr/local/lib/python3.12/dist-packages/"
    "torch/distributed/c10d_logger.py:%u: FutureWarning: the keyword is deprecated (%u)",
    "    model.decoder.layers.%u.self_attention.linear_qkv.weight: shape (%u, %u), dtype bf16, tp "
    "%u",
    "[rank%u]:[W1222 15:%02u:%02u.%u ProcessGroupNCCL.cpp:5023] Warning: barrier using this device",
    "(min, max) time across ranks (ms): forward-backward: (%u.%02u, %u.%02u)",
    "[Rank %u] (after %u iterations) memory (GB) | mem-allocated-gigabytes: %u.%u | mem-reserved",
    "[default%u]:INFO:megatron.core.distributed.param_and_grad_buffer:Params for bucket %u (%u "
    "elements, %u padded size): module.decoder.layers.11.mlp.experts.linear_fc2.weight",
    "Validation: iteration %u/%u | reduced_train_loss: %u.%u",
    "saving checkpoint at iteration %7u to /lustre/fsw/checkpoints/llama31_405b/%u in torch_dist "
    "format: %u shards, %u MiB",
    "2025-12-22 15:%02u:%02u,%u - megatron.bridge.data.loaders - INFO - sampled %u documents",
    "  - timestamp, index, utilization.gpu [%%], power.draw [W], %u, %u %%, %u.%u W, P0, Active",
    "",
};

void append_filler(Random& random, std::string& log) {
  std::array<char, 512> line;
  const char* const format = kFillers[random.below(kFillers.size())];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
  const int length = std::snprintf(line.data(), line.size(), format, random.below(60),
                                   random.below(60), random.below(10000), random.below(8));
#pragma GCC diagnostic pop
  log.append(line.data(), static_cast<std::size_t>(length));
  log += '\n';
}

void append_step(int step, Random& random, std::string& log) {
  std::array<char, 512> line;
  const int length = std::snprintf(
      line.data(), line.size(),
      "Training epoch 0, iteration %d/49 | lr: 1.5e-06 | global_batch_size: 512 | global_step: %d "
      "| "
      "reduced_train_loss: 11.%u | train_step_timing in s: 7.%u | consumed_samples: %d | "
      "TFLOPS_per_GPU: 1.679e+03\n",
      step, step, random.below(1000), random.below(1000), (step + 1) * 512);
  log.append(line.data(), static_cast<std::size_t>(length));
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t size = argc == 2 ? std::strtoull(argv[1], nullptr, 10) : 0;
  if (size == 0) {
    std::fputs("usage: make_bench_log BYTES\n", stderr);
    return 2;
  }
  constexpr int kSteps = 50;
  Random random;
  std::uint64_t written = 0;
  int step = 0;
  std::string log;
  while (written < size || step < kSteps) {
    log.clear();
    while (log.size() < (1 << 16)) append_filler(random, log);
    if (step < kSteps && written >= size / kSteps * static_cast<std::uint64_t>(step)) {
      append_step(step++, random, log);
    }
    if (std::fwrite(log.data(), 1, log.size(), stdout) != log.size()) {
      std::perror("make_bench_log: write to stdout");
      return 1;
    }
    written += log.size();
  }
  return 0;
}
