// The whole run, from the configuration line to the last checkpoint, as a
// recipe's job logs it. Ranks are threads of this process, or processes that a launcher started.
#pragma once

#include <functional>
#include <string>

#include "runner/parallel/communicator.h"
#include "runner/parallel/layout.h"
#include "runner/plan/options.h"
#include "runner/plan/run_settings.h"
#include "runner/train_output.h"

namespace llmb::runner {

// What a reader of the log must know before the first number.
std::string run_preamble(const RunSettings& settings);
// Throws std::invalid_argument where the sizes do not fold.
Layout run_layout(const RunSettings& settings);

// This process's ranks share its cores: one has its machine to itself, several keep a core each, as
// far as there are cores. OMP_NUM_THREADS outranks it. Holds for the thread that calls it, which is
// to be the rank's own.
void share_cores(int ranks_of_this_machine);

// Runs `run`, this process's rank of the world; where it breaks, the other ranks end too. Throws
// what it throws.
void run_own_rank(World& world, const std::function<void()>& run);

// On the CPU backend, all ranks as threads of this process. Throws NotANumber, CommunicationError
// where ranks lost each other, and what else breaks.
void train_on_cpu(const Options& options, const RunSettings& settings, TrainOutput output);

// This process as one rank of the world, and one of so many that share this machine's cores.
// Throws likewise; the other ranks end too.
void train_rank_on_cpu(World& world, int ranks_of_this_machine, const Options& options,
                       const RunSettings& settings, TrainOutput output);

}  // namespace llmb::runner
