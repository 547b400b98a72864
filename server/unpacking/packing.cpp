#include "server/unpacking/packing.h"

#include <algorithm>

namespace llmb::unpacking {

using namespace std::string_view_literals;

Packing packing_of(std::string_view head) {
  if (head.starts_with("\x1f\x8b\x08"sv)) return Packing::gzip;
  if (head.starts_with("\x28\xb5\x2f\xfd"sv)) return Packing::zstd;
  return Packing::none;
}

bool is_unpacked_by_name(std::string_view name) {
  return std::any_of(kSuffixes.begin(), kSuffixes.end(),
                     [&](std::string_view suffix) { return name.ends_with(suffix); });
}

}  // namespace llmb::unpacking
