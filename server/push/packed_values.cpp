#include "server/push/packed_values.h"

#include <fmt/format.h>

namespace llmb::push {

void refuse_field(std::string_view name, std::string_view wanted) {
  throw BadTelling(fmt::format("'{}' has to be {}", name, wanted));
}

}  // namespace llmb::push
