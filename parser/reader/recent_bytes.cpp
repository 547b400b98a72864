#include "parser/reader/recent_bytes.h"

#include <algorithm>

namespace llmb::parser {
namespace {

std::string_view last_bytes(std::string_view text, std::size_t count) {
  return text.substr(text.size() - std::min(count, text.size()));
}

}  // namespace

void RecentBytes::end_block() {
  constexpr std::size_t kKept = kBytesMax + kLineBytesMax;
  kept_ += last_bytes(block_, kKept);
  // Not for each of many small blocks.
  if (kept_.size() > 4 * kKept) kept_.erase(0, kept_.size() - kKept);
  block_offset_ += block_.size();
  block_ = {};
}

std::string RecentBytes::before(std::uint64_t offset) const {
  if (offset < block_offset_) {
    const std::size_t behind = std::min<std::uint64_t>(block_offset_ - offset, kept_.size());
    return std::string(
        last_bytes(std::string_view(kept_).substr(0, kept_.size() - behind), kBytesMax));
  }
  const std::string_view own = last_bytes(block_.substr(0, offset - block_offset_), kBytesMax);
  return std::string(last_bytes(kept_, kBytesMax - own.size())) + std::string(own);
}

}  // namespace llmb::parser
