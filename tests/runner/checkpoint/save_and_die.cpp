// Saves checkpoints as a run does, and ends itself without a word (SIGKILL) at one moment of a
// save, or goes on saving until somebody else ends it: what the crash tests start.
//
//   runner_save_and_die PATH COMPLETED_STEPS MOMENT   dies at the MOMENT-th moment of this save
//   runner_save_and_die PATH COMPLETED_STEPS -1       saves this and all later steps, for ever
#include <csignal>
#include <cstdlib>
#include <iostream>

#include "runner/checkpoint/checkpoint.h"
#include "runner/parallel/loopback_communicator.h"
#include "tests/runner/checkpoint/trained_ranks.h"

int main(int argc, char** argv) {
  using namespace llmb::runner;
  if (argc != 4) return 2;
  std::int64_t completed_steps = std::atoll(argv[2]);
  const int dies_at = std::atoi(argv[3]);
  const auto world = make_loopback_world();
  const auto layout = Layout::make({}, 1);
  const auto trainer = testing::make_trainer(*world, tiny_llama(), *layout, 1);
  int moment = 0;
  SaveOptions options;
  options.on_progress = [&](std::string_view name) {
    if (dies_at < 0 || moment++ < dies_at) return;
    std::cout << name << std::endl;
    (void)std::raise(SIGKILL);
  };
  do {
    // The step that a checkpoint is of can be told from its weights.
    for (float& weight : trainer->optimizer().shard(ParameterBlock::dense).master.values()) {
      weight = static_cast<float>(completed_steps);
    }
    save_checkpoint(argv[1], *trainer, completed_steps, options);
    std::cout << "saved " << completed_steps << std::endl;
    ++completed_steps;
  } while (dies_at < 0);
  return 0;
}
