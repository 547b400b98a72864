#include "server/cli/version.h"

#include <string_view>

namespace llmb::cli {

std::string version_number() {
  return LLMB_VERSION;
}

std::string version_with_commit() {
  constexpr std::string_view kCommit = LLMB_COMMIT;
  return kCommit.empty() ? version_number() : version_number() + " (" + std::string(kCommit) + ")";
}

}  // namespace llmb::cli
