#include "storage/packed_values.h"

#include <fmt/format.h>

namespace llmb::storage {

void refuse_field(std::string_view name, std::string_view wanted) {
  throw BadField(fmt::format("'{}' has to be {}", name, wanted));
}

}  // namespace llmb::storage
