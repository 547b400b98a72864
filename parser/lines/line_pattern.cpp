#include "parser/lines/line_pattern.h"

#include <algorithm>

namespace llmb::parser {
namespace {

bool can_be_text(std::string_view text) {
  const auto is_plain = [](char c) { return static_cast<signed char>(c) > 1; };
  return std::all_of(text.begin(), text.end(), is_plain);
}

void fill(char* text, std::size_t room, std::string_view with) {
  std::fill(text + with.copy(text, room), text + room, LinePattern::kAnyByte);
}

}  // namespace

bool LinePattern::assign(std::string_view head, std::string_view tail) {
  const bool fits = !head.empty() && head.size() <= kHeadBytesMax && !tail.empty() &&
                    tail.size() <= kTailBytesMax && can_be_text(head) && can_be_text(tail);
  if (!fits) head = tail = {};
  head_size_ = static_cast<std::uint32_t>(head.size());
  tail_size_ = static_cast<std::uint32_t>(tail.size());
  hex_bits_ = {};
  fill(head_.data(), head_.size(), head);
  fill(tail_.data(), tail_.size(), tail);
  return fits;
}

void LinePattern::allow_hex(std::size_t begin, std::size_t count) {
  for (std::size_t at = begin; at < begin + count; ++at) {
    tail_[at] = kHexDigit;
    hex_bits_[at / 64] |= std::uint64_t{1} << at % 64;
  }
}

}  // namespace llmb::parser
