// Reproduces, to the byte and with the exit code, what a release's own shell parser prints for a
// tree, its quirks and bugs included. One difference: rows come in path order, where the scripts
// have whatever order `find` gives.
#pragma once

#include <iosfwd>

#include "server/compat/options.h"

namespace llmb::compat {

// Returns the script's exit code: 0 when at least one run succeeded, 1 otherwise.
int run(const Options& options, std::ostream& out, std::ostream& err);

}  // namespace llmb::compat
