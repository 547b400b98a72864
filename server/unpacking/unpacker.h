// Unpacker: the text of a compressed file, block by block, in bounded memory. Compressed files that
// stand in a row in one (`cat a.gz b.gz`) are their texts in a row; zeros that fill a last block,
// as tapes leave them, are passed over where the format knows them (all but zstd's).
//
// Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "parser/result.h"
#include "server/unpacking/packing.h"

namespace llmb::unpacking {

class UnpackingMethod;

class Unpacker {
 public:
  // Reads from where `fd` stands, which outlives it, after the bytes `head`, which were read
  // before. `packing` is not `none`. Throws std::bad_alloc.
  Unpacker(int fd, Packing packing, std::string head = {});
  ~Unpacker();
  Unpacker(const Unpacker&) = delete;
  Unpacker& operator=(const Unpacker&) = delete;

  // The next bytes of the text, which stand until the next call; empty at its end. Fails where
  // reading does, where the file is damaged or ends before its end (what could be unpacked up to
  // there was given), and where unpacking it needs more memory than is given to that: 128 MiB for
  // zstd, 256 MiB for xz. Nothing may be asked for after that.
  parser::Result<std::string_view> next();

  // Of a file that next() found to end in the middle, or damaged: that, in words, for
  // whoever reads its text up to there. Empty where next() did not fail, or for another reason, or
  // where there is nothing to read: no text, of a damaged file no whole line.
  std::string flaw() const;

 private:
  parser::Result<void> read_packed();
  // Behind a compressed file.
  void pass_over_padding();
  parser::Result<void> end_padding();
  tl::unexpected<parser::Error> cut_off();
  tl::unexpected<parser::Error> damaged(std::string how);
  std::string_view given(std::size_t bytes);

  const int fd_;
  const std::unique_ptr<UnpackingMethod> method_;
  std::string room_;
  std::string_view packed_;  // in `room_`, to be unpacked
  std::vector<char> text_;
  std::uint64_t padding_bytes_ = 0;
  std::uint64_t text_bytes_ = 0;  // that were given
  bool has_whole_line_ = false;   // they
  bool is_cut_off_ = false;
  std::string damage_;          // empty: none was found
  bool is_in_middle_ = true;    // of a compressed file: an empty one is not whole
  bool may_have_more_ = false;  // text that did not fit
};

}  // namespace llmb::unpacking
