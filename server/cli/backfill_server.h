// What the server of a back-fill says before the first task is begun: a task reads its part, which
// takes long, before it finds that nobody takes it.
#pragma once

#include "server/backfill/manifest.h"
#include "server/cli/backfill_plan.h"
#include "server/cli/stop_signals.h"
#include "server/push/push_options.h"

namespace llmb::cli {

// Error: what is missing or wrong.
parser::Result<push::PushOptions> push_options_of(const backfill::Manifest& manifest);

// Asks once, for as long as a slow answer takes at most, and writes nothing there. With Slurm they
// run elsewhere: that the server is not reached from here is a note on stderr then.
tl::expected<void, BackfillRefusal> ask_server(const backfill::Manifest& manifest, bool uses_slurm,
                                               const StopSignals& signals);

}  // namespace llmb::cli
