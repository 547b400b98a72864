// TailState: what a log's cursor keeps beside its place, as the text in LogCursor::parser_state:
// the state of the LogReader, and what tells that a log is as it was.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "parser/foundation/content_hash.h"

namespace llmb::storage {

struct TailState {
  std::int64_t modified_us = 0;    // the file's time of modification, since the epoch
  std::uint64_t settled_size = 0;  // the size at which it was settled; 0: it was not
  // Of all bytes before the cursor's offset, as far as they are whole words.
  std::uint64_t content_hash = parser::kFnv1aBasis;
  std::string reader_state;
};

std::string encode_tail_state(const TailState& state);
// Nothing for a text of another form.
std::optional<TailState> decode_tail_state(const std::string& text);

}  // namespace llmb::storage
