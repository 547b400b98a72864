// PackedBody: a large body as it is held between being made and being sent: compressed, in blocks.
// Clients that take that encoding get the blocks as they are; for the others each is unpacked when
// its turn comes, so that a client which does not read holds a small part of what it asked for.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "server/http/compression.h"

namespace llmb::http {

class PackedBody {
 public:
  static constexpr std::size_t kBlockBytes = std::size_t{256} * 1024;  // before it was packed

  // The encoding in which the body goes out, and how long it is then.
  Encoding encoding() const { return encoding_; }
  std::size_t size() const { return size_; }
  std::size_t held_bytes() const { return held_bytes_; }

  std::size_t block_count() const { return blocks_.size(); }
  // A block as it goes out: of the body itself, or in `unpacked`.
  std::string_view block(std::size_t index, std::string& unpacked) const;

 private:
  friend class BodyPacker;
  Encoding encoding_ = Encoding::identity;
  std::vector<std::string> blocks_;  // where the encoding is identity, each is a frame of zstd
  std::size_t size_ = 0;
  std::size_t held_bytes_ = 0;
};

// Makes a body of the text that it is given: a string where it is short, else packed as it comes,
// so that the whole of it is in memory at no time.
class BodyPacker {
 public:
  static constexpr std::size_t kPackedFromBytes = std::size_t{1024} * 1024;

  // `encoding`: what the client takes.
  explicit BodyPacker(Encoding encoding);

  void append(std::string_view text);

  struct Made {
    std::shared_ptr<const std::string> whole;  // never compressed
    std::shared_ptr<const PackedBody> packed;  // the one or the other
  };
  Made finish() &&;

 private:
  void pack(std::string_view text, bool is_last);

  std::shared_ptr<PackedBody> packed_;  // null: short so far
  std::unique_ptr<CompressionStream> stream_;
  std::string text_;  // not packed yet
  const Encoding encoding_;
};

// The blocks of a body in the order in which they are sent.
class BodyBlocks {
 public:
  // At most so many bytes at once of a body that is whole.
  static constexpr std::size_t kWholeBlockBytes = std::size_t{1024} * 1024;

  // Both may be null; both must outlive the blocks.
  BodyBlocks(const std::string* whole, const PackedBody* packed);

  // Valid until the next call. Empty at the end.
  std::string_view next();

 private:
  std::string_view rest_;
  const PackedBody* const packed_;
  std::size_t next_index_ = 0;
  std::string unpacked_;
};

}  // namespace llmb::http
