// How long a test waits for what has to come. It is a net, not a measure: where all is well each
// wait ends at once, and a machine that stands still for a minute fails nothing.
#pragma once

#include <chrono>

namespace llmb {

inline constexpr std::chrono::seconds kTestPatience{180};

}  // namespace llmb
