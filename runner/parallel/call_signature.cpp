#include "runner/parallel/call_signature.h"

#include <fmt/format.h>

namespace llmb::runner {

std::string CallSignature::str() const {
  std::string text = name_of(kind);
  if (kind != CollectiveKind::barrier) {
    text += fmt::format(" of {} {}", count, name_of(type));
  }
  if (kind == CollectiveKind::broadcast) text += fmt::format(" from member {}", root);
  return text + ", " + site;
}

std::string disagreement(const CallSignature& a, int rank_a, const CallSignature& b, int rank_b) {
  const bool counts_agree = a.count == b.count || a.kind == CollectiveKind::all_to_all;
  if (a.kind == b.kind && a.type == b.type && counts_agree && a.root == b.root &&
      a.tag_name == b.tag_name) {
    return "";
  }
  return fmt::format("ranks disagree: rank {} calls {}; rank {} calls {}", rank_a, a.str(), rank_b,
                     b.str());
}

}  // namespace llmb::runner
