#include "runner/train_loop.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "runner/cpu/backend.h"
#include "runner/cpu/parallel_for.h"
#include "runner/parallel/loopback_communicator.h"
#include "runner/parallel/thread_communicator.h"
#include "runner/plan/fp8_weights.h"
#include "runner/plan/pass_graphs.h"
#include "runner/rank_run.h"

namespace llmb::runner {
namespace {

// OMP_NUM_THREADS; 0 where nobody has set it to a number.
int asked_threads_per_rank() {
  const char* const text = std::getenv("OMP_NUM_THREADS");  // NOLINT(concurrency-mt-unsafe)
  int count = 0;
  if (text != nullptr) std::from_chars(text, text + std::strlen(text), count);
  return std::max(0, count);
}

// This rank on this machine's cores.
void run_rank(World& world, const Options& options, const RunSettings& settings,
              const Layout& layout, TrainOutput output) {
  cpu::Ops<float> ops;
  RankRun<cpu::Backend<float>>(ops, world, options, settings, layout, output).train();
}

}  // namespace

std::string run_preamble(const RunSettings& settings) {
  std::string text = configuration_line(settings);
  if (settings.backend == Backend::cuda) {
    text +=
        fmt::format("llmb-step-runner: {} ranks, each on a CUDA device\n", settings.world_size());
  } else if (settings.rank_slice) {
    text += "llmb-step-runner: " + slice_label(settings) +
            ": one rank's share of the work on this machine's CPUs, copies of its own data in "
            "place of the others'; its losses mean nothing, and its times are not a whole run's\n";
  } else {
    text += fmt::format(
        "llmb-step-runner: {} ranks as {}; times and TFLOPS are theirs, not a GPU's\n",
        settings.world_size(),
        settings.launched_ranks > 1 ? "processes on CPUs" : "threads on this machine's CPUs");
  }
  if (settings.backend == Backend::cpu && settings.precision != Precision::fp32) {
    text += "llmb-step-runner: " + std::string(precision_name(settings.precision)) +
            " is emulated: values are rounded where a GPU would round them, sums are fp32\n";
  }
  if (const std::string weights = fp8_weights_text(settings); !weights.empty()) {
    text += "llmb-step-runner: " + weights;
  }
  if (settings.backend == Backend::cpu && settings.wants_graphs) {
    text += "llmb-step-runner: " + graphs_text(settings);
  }
  for (const std::string& change : settings.spec.overrides) {
    text += "llmb-step-runner: proxy: " + change + "\n";
  }
  for (const std::string& note : settings.notes) text += "llmb-step-runner: note: " + note + "\n";
  return text;
}

Layout run_layout(const RunSettings& settings) {
  const auto layout = Layout::make(settings.sizes, settings.world_size());
  if (!layout) throw std::invalid_argument(layout.error().message);
  return *layout;
}

void share_cores(int ranks_of_this_machine) {
  if (const int asked = asked_threads_per_rank(); asked > 0) {
    return cpu::set_threads_per_rank(asked);
  }
  const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  cpu::set_threads_per_rank(std::max(1, cores / ranks_of_this_machine));
}

void run_own_rank(World& world, const std::function<void()>& run) {
  try {
    run();
  } catch (const NotANumber&) {
    throw;  // every rank has seen it
  } catch (const std::exception& error) {
    world.abort(error.what());
    throw;
  }
}

void train_on_cpu(const Options& options, const RunSettings& settings, TrainOutput output) {
  const Layout layout = run_layout(settings);
  output.log.write(run_preamble(settings));
  if (settings.rank_slice) {
    share_cores(1);
    const auto world = make_loopback_world(settings.world_size(), *settings.rank_slice);
    run_rank(*world, options, settings, layout, output);
    return;
  }
  run_thread_ranks(
      settings.world_size(),
      [&](World& world) {
        share_cores(settings.world_size());
        run_rank(world, options, settings, layout, output);
      },
      kRankPatience);
}

void train_rank_on_cpu(World& world, int ranks_of_this_machine, const Options& options,
                       const RunSettings& settings, TrainOutput output) {
  const Layout layout = run_layout(settings);
  if (world.rank() == 0) output.log.write(run_preamble(settings));
  share_cores(ranks_of_this_machine);
  run_own_rank(world, [&] { run_rank(world, options, settings, layout, output); });
}

}  // namespace llmb::runner
