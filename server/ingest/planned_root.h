// PlannedRoot: a root under the name by which it is stored, before anybody is known to write its
// runs.
#pragma once

#include <string>
#include <vector>

#include "server/ingest/ingest_options.h"
#include "server/ingest/watched_root.h"

namespace llmb::ingest {

struct PlannedRoot {
  WatchedRoot root;     // without an id
  std::string cluster;  // empty: none
};

// In the order given, without repetitions; each knows which others lie below it. Takes some seconds
// where a root's file system does not answer.
std::vector<PlannedRoot> plan_roots(const std::vector<RootOptions>& wanted);

}  // namespace llmb::ingest
