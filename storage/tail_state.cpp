#include "storage/tail_state.h"

#include <fmt/format.h>

#include <charconv>

namespace llmb::storage {

std::string encode_tail_state(const TailState& state) {
  return fmt::format("{} {} {} {}", state.modified_us, state.settled_size, state.content_hash,
                     state.reader_state);
}

std::optional<TailState> decode_tail_state(const std::string& text) {
  TailState state;
  const char* const end = text.data() + text.size();
  const auto modified = std::from_chars(text.data(), end, state.modified_us);
  if (modified.ec != std::errc() || modified.ptr == end || *modified.ptr != ' ') return {};
  const auto settled = std::from_chars(modified.ptr + 1, end, state.settled_size);
  if (settled.ec != std::errc() || settled.ptr == end || *settled.ptr != ' ') return {};
  const auto hash = std::from_chars(settled.ptr + 1, end, state.content_hash);
  if (hash.ec != std::errc() || hash.ptr == end || *hash.ptr != ' ') return {};
  state.reader_state.assign(hash.ptr + 1, end);
  return state;
}

}  // namespace llmb::storage
