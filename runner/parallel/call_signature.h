// CallSignature: what the members of a group must agree on before a call moves a byte, and the
// sentence that tells a user where they did not.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "runner/parallel/communicator.h"

namespace llmb::runner {

struct CallSignature {
  CollectiveKind kind = CollectiveKind::barrier;
  ElementType type = ElementType::byte;
  std::size_t count = 0;
  int root = -1;
  std::string tag_name;
  std::string site;  // CallTag::str()

  // "all_reduce(sum) of 12 float32, tp.out at runner/cpu/stage.cpp:12"
  std::string str() const;
};

// Empty where the two agree. all_to_all's counts may differ between members and are compared
// pair by pair elsewhere.
std::string disagreement(const CallSignature& a, int rank_a, const CallSignature& b, int rank_b);

}  // namespace llmb::runner
