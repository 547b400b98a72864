// The whole run on the CPU backend, from the configuration line to the last checkpoint, as a
// recipe's job logs it. Ranks are threads of this process, or processes that a launcher started.
#pragma once

#include <ostream>
#include <stdexcept>

#include "runner/log_sink.h"
#include "runner/parallel/communicator.h"
#include "runner/plan/options.h"
#include "runner/plan/run_settings.h"

namespace llmb::runner {

// The loss or a gradient is no number: the run has no result.
class NotANumber : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Where a run writes. `phases` may be null.
struct TrainOutput {
  LogSink& log;
  std::ostream* phases = nullptr;
};

// All ranks as threads of this process. Throws NotANumber, CommunicationError where ranks lost each
// other, and what else breaks.
void train_on_cpu(const Options& options, const RunSettings& settings, TrainOutput output);

// This process as one rank of the world, and one of so many that share this machine's cores.
// Throws likewise; the other ranks end too.
void train_rank_on_cpu(World& world, int ranks_of_this_machine, const Options& options,
                       const RunSettings& settings, TrainOutput output);

}  // namespace llmb::runner
