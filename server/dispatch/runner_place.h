// Where the nodes of a cluster find the runner: a path of the file system that the runs lie on,
// which a copy has. Thread-safe; waits for a file system as file_call.h says.
#pragma once

#include <string>

#include "parser/result.h"
#include "server/dispatch/cluster_settings.h"

namespace llmb::dispatch {

enum class CopyRunner { make, only_name };

// With `copies_runner` the settings' runner becomes that of its copy: programs/<name>-<hash of its
// bytes> below the workload folder, so that jobs keep theirs when another is built. It is made
// once; with only_name not at all. Returns a note where nodes may not see the runner as it is: it
// lies on a disk of this machine, and the runs do not. Empty where nothing is to be said. Fails
// where there is nothing to copy, or the copy cannot be written; then the settings are as they
// were.
parser::Result<std::string> place_runner(ClusterSettings& settings, CopyRunner copying);

// Whether the program lies on a disk of this machine, and the folder does not: nodes that see the
// folder may not see the program.
bool lies_apart(const std::string& program, const std::string& folder);

// The same copy of any program, in programs/ of a folder.
parser::Result<std::string> copy_program(const std::string& program, const std::string& folder);

}  // namespace llmb::dispatch
