#include "server/ingest/file_identity.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "parser/foundation/content_hash.h"

namespace llmb::ingest {

parser::Result<std::string> read_at(int fd, std::uint64_t offset, std::size_t length) {
  std::string bytes(length, '\0');
  std::size_t filled = 0;
  while (filled < length) {
    const ssize_t got =
        pread(fd, bytes.data() + filled, length - filled, static_cast<off_t>(offset + filled));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      return parser::fail(
          fmt::format("cannot read at offset {}: {}", offset + filled, std::strerror(errno)));
    }
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
  }
  bytes.resize(filled);
  return bytes;
}

bool looks_untouched(const FileFacts& facts, const storage::LogCursor& cursor,
                     const storage::TailState& state) {
  return facts.inode == cursor.inode && facts.modified_us() == state.modified_us;
}

parser::Result<Identity> check_identity(int fd, const storage::LogCursor& cursor) {
  // Of a log that was empty, or held no complete line, nothing was read that could differ.
  if (cursor.offset == 0) return Identity::same;
  const auto head = read_at(fd, 0, cursor.head_length);
  if (!head) return tl::unexpected(head.error());
  const auto tail = read_at(fd, cursor.offset - cursor.tail_length, cursor.tail_length);
  if (!tail) return tl::unexpected(tail.error());
  // A tail that can be read in whole and differs is proof. A head is judged only when the tail
  // was there, so that a stale size is not taken for a rewrite.
  if (tail->size() == cursor.tail_length && parser::content_hash(*tail) != cursor.tail_hash) {
    return Identity::rewritten;
  }
  if (head->size() == cursor.head_length && parser::content_hash(*head) != cursor.head_hash) {
    return Identity::rewritten;
  }
  const bool is_whole = head->size() == cursor.head_length && tail->size() == cursor.tail_length;
  return is_whole ? Identity::same : Identity::shorter;
}

parser::Result<void> take_fingerprint(int fd, storage::LogCursor& cursor) {
  const auto head_length =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(cursor.offset, kHeadLength));
  if (cursor.head_length < head_length) {
    const auto head = read_at(fd, 0, head_length);
    if (!head) return tl::unexpected(head.error());
    if (head->size() != head_length) return parser::fail("the file shrank while it was read");
    cursor.head_length = head_length;
    cursor.head_hash = parser::content_hash(*head);
  }
  const auto tail_length =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(cursor.offset, kTailLength));
  const auto tail = read_at(fd, cursor.offset - tail_length, tail_length);
  if (!tail) return tl::unexpected(tail.error());
  if (tail->size() != tail_length) return parser::fail("the file shrank while it was read");
  cursor.tail_length = tail_length;
  cursor.tail_hash = parser::content_hash(*tail);
  return {};
}

}  // namespace llmb::ingest
