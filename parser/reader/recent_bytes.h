// RecentBytes: what stands before a line, whatever it holds: LineFilter passes over lines that hold
// no literal, and a few of them tell something once a later one is handed on. Depends on the bytes
// that were read, never on how they were cut.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace llmb::parser {

class RecentBytes {
 public:
  static constexpr std::size_t kBytesMax = 512;
  // Of a longer line, which may have begun in an earlier block, what stands before it is not known.
  static constexpr std::size_t kLineBytesMax = 512;

  // `kept`: the last bytes before `offset` of the log, where the next block begins.
  explicit RecentBytes(std::uint64_t offset = 0, std::string kept = {})
      : kept_(std::move(kept)), block_offset_(offset) {}

  // `block` follows what was read before, and stays until end_block().
  void begin_block(std::string_view block) { block_ = block; }
  void end_block();

  // The last bytes before `offset`, where a line of the block begins, or an unfinished one.
  std::string before(std::uint64_t offset) const;

 private:
  std::string kept_;  // before the block; more than before() gives where a line is unfinished
  std::string_view block_;
  std::uint64_t block_offset_;
};

}  // namespace llmb::parser
