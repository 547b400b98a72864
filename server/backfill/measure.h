// The measure of a root: one walk over it, the same that ingest makes, with the bytes of each
// log's text: of a compressed one what it probably unpacks to.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "parser/result.h"
#include "server/backfill/cut.h"

namespace llmb::backfill {

struct MeasuredRoot {
  MeasuredFolder folder;
  std::vector<std::string> notes;  // a sentence on each folder that cannot be listed
};

// `goes_on` is asked once a folder. Fails where the root cannot be opened or listed, and where
// `goes_on` says no.
parser::Result<MeasuredRoot> measure_root(const std::string& path,
                                          const std::function<bool()>& goes_on);

}  // namespace llmb::backfill
