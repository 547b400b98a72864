// The wall clock as job rows count it: microseconds, as parser/foundation/instant.h writes them.
#pragma once

#include <chrono>

#include "parser/foundation/instant.h"

namespace llmb::dispatch {

using parser::instant_of_unix_s;
using parser::instant_text;
using parser::parse_instant;
using WallTime = parser::Instant;

inline WallTime wall_now() {
  return std::chrono::floor<WallTime::duration>(std::chrono::system_clock::now());
}

}  // namespace llmb::dispatch
