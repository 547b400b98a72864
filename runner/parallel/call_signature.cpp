#include "runner/parallel/call_signature.h"

namespace llmb::runner {

std::string CallSignature::str() const {
  std::string text = name_of(kind);
  if (kind != CollectiveKind::barrier) {
    text += " of " + std::to_string(count) + " " + name_of(type);
  }
  if (kind == CollectiveKind::broadcast) text += " from member " + std::to_string(root);
  return text + ", " + site;
}

std::string disagreement(const CallSignature& a, int rank_a, const CallSignature& b, int rank_b) {
  const bool counts_agree = a.count == b.count || a.kind == CollectiveKind::all_to_all;
  if (a.kind == b.kind && a.type == b.type && counts_agree && a.root == b.root &&
      a.tag_name == b.tag_name) {
    return "";
  }
  return "ranks disagree: rank " + std::to_string(rank_a) + " calls " + a.str() + "; rank " +
         std::to_string(rank_b) + " calls " + b.str();
}

}  // namespace llmb::runner
