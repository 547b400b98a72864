// parser/lines in memory: bytes a second of the scanner's engines by the number of literals, of the
// filter by the share of lines that hold one, and of the cleaner by what it has to remove.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "parser/lines/line_cleaner.h"
#include "parser/lines/line_filter.h"

namespace llmb::parser {
namespace {

constexpr std::size_t kBlockBytes = 256 << 10;

std::string filler_block() {
  const std::string lines =
      "cw-dfw-h100-031:1217:4411 [5] NCCL INFO Channel 02/0 : 5[5] -> 13[5] [send] via NET/IB/3\n"
      "[NeMo I 2025-12-22 15:18:33 megatron_strategy:310] Fixing mis-match between ddp-config\n"
      "    model.decoder.layers.17.self_attention.linear_qkv.weight: shape (5120, 4096), bf16\n"
      "(min, max) time across ranks (ms): forward-backward: (5517.31, 5519.07)\n";
  std::string block;
  while (block.size() < kBlockBytes) block += lines;
  return block;
}

std::vector<std::string> literals(std::size_t count) {
  std::vector<std::string> all = {
      "train_step_timing in s",
      "elapsed time per iteration (ms)",
      "TFLOP/s/GPU",
      "completed step: ",
      "TFLOPs per sec per GPU=",
      "after training is done",
      "DUE TO TIME LIMIT",
      "DUE TO NODE FAILURE",
      "Exited with exit code",
      "CUDA out of memory",
      "Watchdog caught collective",
      "NCCL WARN",
      "unhandled cuda error",
      "unhandled system error",
      "CUDA error:",
      "device-side assert",
      "uncorrectable ECC error",
      "Xid (PCI",
      "Segmentation fault",
      "Bus error",
      "core dumped",
      "Traceback (most recent",
      "ChildFailedError",
      "ConnectionResetError",
      "No space left on device",
      "Stale file handle",
      "Transport endpoint is not",
      "ModuleNotFoundError",
      "ibv_poll_cq",
      "StopIteration",
      "job exited with code",
      "oom_kill event",
      "CANCELLED AT",
      "DUE TO TASK FAILURE",
      "Out Of Memory",
      "exiting program at iteration",
      "NCCL INFO AllReduce: op",
      "step_time",
  };
  all.resize(std::min(count, all.size()));
  return all;
}

void scan(benchmark::State& state, LiteralScanner::Engine engine) {
  const LiteralScanner scanner(literals(static_cast<std::size_t>(state.range(0))), engine);
  const std::string block = filler_block();
  for ([[maybe_unused]] auto _ : state) benchmark::DoNotOptimize(scanner.find(block));
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(block.size()));
}

// Every range(0)-th line is a step line.
void filter(benchmark::State& state) {
  const LiteralScanner scanner(literals(8));
  const std::string step = "iteration 1/49 | train_step_timing in s: 7.25 | TFLOPS_per_GPU: 800\n";
  std::string block;
  for (int line = 1; block.size() < kBlockBytes; ++line) {
    block += line % state.range(0) == 0 ? step
                                        : "a line of about the same length, with nothing in "
                                          "it that anybody wants\n";
  }
  for ([[maybe_unused]] auto _ : state) {
    LineFilter line_filter(scanner);
    std::size_t found = 0;
    line_filter.feed(block, [&found](const Line& line) { found += line.bytes.size(); });
    benchmark::DoNotOptimize(found);
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(block.size()));
}

void clean(benchmark::State& state, std::string_view line) {
  std::string scratch;
  for ([[maybe_unused]] auto _ : state) benchmark::DoNotOptimize(clean_line(line, scratch));
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(line.size()));
}

void register_all() {
  for (const LiteralScanner::Engine engine : LiteralScanner::available_engines()) {
    const std::string name = "scan/" + std::string(engine_name(engine));
    benchmark::RegisterBenchmark(name.c_str(), scan, engine)->Arg(1)->Arg(8)->Arg(38);
  }
  benchmark::RegisterBenchmark("filter/one_line_in", filter)->Arg(1)->Arg(10)->Arg(1000);
  benchmark::RegisterBenchmark("clean/nothing", clean,
                               "Training epoch 0, iteration 8/29 | lr: 5.389e-06 | loss: 10.22");
  benchmark::RegisterBenchmark("clean/label", clean,
                               " 0: Training epoch 0, iteration 8/29 | lr: 5.389e-06 | loss: 1");
  benchmark::RegisterBenchmark("clean/colours", clean,
                               "- INFO - \x1b[36mstep: 1990  \x1b[32mloss:  3.4370\x1b[39m");
}

}  // namespace
}  // namespace llmb::parser

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  llmb::parser::register_all();
  benchmark::RunSpecifiedBenchmarks();
}
