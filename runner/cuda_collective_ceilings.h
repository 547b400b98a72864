// What collectives between the devices of a run sustain, measured by all ranks at once, as in a
// step: each group's calls at the sizes of the model's own messages.
#pragma once

#include <iosfwd>

#include "runner/operation/ceiling.h"
#include "runner/parallel/communicator.h"
#include "runner/parallel/layout.h"
#include "runner/plan/run_settings.h"

namespace llmb::runner {

// All ranks call it, on their devices, before they take memory for the run; each hears its own
// times. `world`: the ranks as the host sees them. A message of more than a GiB is measured at
// that. Throws CommunicationError, cuda::DeviceError.
void measure_collectives(World& world, const RunSettings& settings, const Layout& layout,
                         double seconds, const CeilingSink& tell);

// Of the command `ceilings`: the same on the device of this rank, which rank 0 prints lines of.
// Begins when all have come: rank 0 may have measured its device for minutes, and devices wait for
// each other in seconds.
void print_collective_ceilings(World& world, int local_rank, const RunSettings& settings,
                               double seconds, std::ostream& out);

}  // namespace llmb::runner
