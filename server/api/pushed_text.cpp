#include "server/api/pushed_text.h"

#include <fmt/format.h>

#include "server/push/log_text_request.h"
#include "storage/database.h"

namespace llmb::api {

PushedText::PushedText(ReaderPool& readers, const PushedLog& log)
    : readers_(readers), run_(log.run) {
  const auto places = readers.with_reader(
      [&](storage::Reader& reader) { return reader.log_block_places(log.run); });
  if (places.empty()) throw text_not_here();
  std::uint64_t end = 0;
  for (const storage::LogBlockPlace& place : places) {
    add_gap(end, place.first_byte);
    parts_.push_back({{}, place});
    size_bytes_ += place.byte_count;
    end = place.first_byte + place.byte_count;
    version_ += fmt::format("{}-{}-{},", place.first_byte, place.byte_count, place.packed_bytes);
  }
  add_gap(end, log.size_bytes);
}

void PushedText::add_gap(std::uint64_t begin, std::uint64_t end) {
  if (begin >= end) return;
  // Blocks end anywhere in a line.
  parts_.push_back({fmt::format("{}[llmb-report: {} bytes of the log are missing: this part {}]\n",
                                begin == 0 ? "" : "\n", end - begin, why_not_here()),
                    {}});
  size_bytes_ += parts_.back().line.size();
}

std::string PushedText::next() {
  if (next_part_ == parts_.size()) return {};
  const Part& part = parts_[next_part_++];
  return part.line.empty() ? read(part.block) : part.line;
}

std::string PushedText::read(const storage::LogBlockPlace& place) const {
  const auto blocks = readers_.with_reader([&](storage::Reader& reader) {
    return reader.log_blocks(run_, place.first_byte, place.first_byte + 1);
  });
  // The last block of a log that grows is replaced by a longer one that begins with it.
  const bool is_there = blocks.size() == 1 && blocks.front().byte_count >= place.byte_count;
  const bool is_other = is_there && blocks.front().byte_count == place.byte_count &&
                        blocks.front().packed.size() != place.packed_bytes;
  if (!is_there || is_other) throw log_changed();
  auto text = push::unpacked_block(blocks.front());
  if (!text) throw damaged_text();
  text->resize(static_cast<std::size_t>(place.byte_count));
  return *std::move(text);
}

}  // namespace llmb::api
