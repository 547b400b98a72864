#include "server/unpacking/packing.h"

#include <algorithm>

namespace llmb::unpacking {

using namespace std::string_view_literals;

namespace {

// Three letters and a digit, with which a text may begin, and then a block or the end: what an
// empty file has at once.
bool is_bzip2(std::string_view head) {
  if (head.size() < 10 || !head.starts_with("BZh") || head[3] < '1' || head[3] > '9') return false;
  const std::string_view begin = head.substr(4, 6);
  return begin == "1AY&SY" || begin == "\x17\x72\x45\x38\x50\x90"sv;
}

}  // namespace

Packing packing_of(std::string_view head) {
  if (head.starts_with("\x1f\x8b\x08"sv)) return Packing::gzip;
  if (head.starts_with("\x28\xb5\x2f\xfd"sv)) return Packing::zstd;
  if (head.starts_with("\xfd\x37\x7a\x58\x5a\x00"sv)) return Packing::xz;
  if (is_bzip2(head)) return Packing::bzip2;
  return Packing::none;
}

bool is_unpacked_by_name(std::string_view name) {
  return std::any_of(kSuffixes.begin(), kSuffixes.end(),
                     [&](std::string_view suffix) { return name.ends_with(suffix); });
}

}  // namespace llmb::unpacking
