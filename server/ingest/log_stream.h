// LogStream: the text of a log from its first byte to its last, in bounded memory; of a compressed
// one it is unpacked as it is read. Of a log that grows it is what the log held when it was opened.
// What is rewritten meanwhile is noticed: nobody gets the beginning of one text with the end of
// another.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "parser/result.h"
#include "server/ingest/open_log.h"
#include "server/unpacking/unpacker.h"
#include "storage/records.h"

namespace llmb::ingest {

// Not thread-safe.
class LogStream {
 public:
  struct Failure {
    // It holds other bytes than the cursor was made for, or than it held.
    bool is_other_log = false;
    std::string message;
  };
  template <typename T>
  using Answer = tl::expected<T, Failure>;

  // Fails where the log does not begin as it did for `cursor`, or lacks what was read of it; of a
  // compressed log next() does, once it comes there.
  static Answer<std::shared_ptr<LogStream>> begin(OpenLog log, const storage::LogCursor& cursor);

  const FileFacts& facts() const { return log_.facts; }
  // Of the text; nothing where it is compressed.
  std::optional<std::uint64_t> size_bytes() const;

  // The next 256 KiB or less, empty at the end. Fails for good. Of a compressed log that is cut off
  // or damaged the last piece is a line that says so.
  Answer<std::string> next();

 private:
  LogStream(OpenLog log, const storage::LogCursor& cursor);
  Answer<std::string> read();
  Answer<std::string> unpack();
  // Of a text that grows nothing changes but its end.
  bool is_as_it_was() const;
  // Keeps what tells the text from another one; false where it is not the cursor's.
  bool take(std::string_view piece);
  bool is_cursors_text(std::string_view piece) const;

  // What stands where the rest is that cannot be had.
  std::string gap_line() const;

  const OpenLog log_;
  const storage::LogCursor cursor_;
  std::unique_ptr<unpacking::Unpacker> unpacker_;
  bool flaw_is_told_ = false;
  std::uint64_t given_ = 0;
  std::string head_;  // of the text
  std::string tail_;  // the last of what was given
};

}  // namespace llmb::ingest
