#include "server/ingest/log_tail.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "server/ingest/file_identity.h"

namespace llmb::ingest {
namespace {

constexpr std::size_t kBlockBytes = std::size_t{256} * 1024;

void count_bytes(const TailOptions& options, std::uint64_t bytes) {
  if (options.bytes_read != nullptr) options.bytes_read->fetch_add(bytes);
  if (options.watch != nullptr) options.watch->begin_call();
}

std::uint64_t whole_words(std::uint64_t bytes) {
  return bytes / kHashedWord * kHashedWord;
}

// Of the bytes [begin, end) on top of `hash`; both are multiples of a word.
parser::Result<std::uint64_t> hash_file(int fd, std::uint64_t hash, std::uint64_t begin,
                                        std::uint64_t end, const TailOptions& options) {
  while (begin < end && (options.stop == nullptr || !options.stop->load())) {
    const auto length = static_cast<std::size_t>(std::min<std::uint64_t>(end - begin, kBlockBytes));
    const auto bytes = read_at(fd, begin, length);
    if (!bytes) return tl::unexpected(bytes.error());
    if (bytes->size() != length) return parser::fail("the file shrank while it was read");
    hash = hash_words(*bytes, hash);
    begin += length;
    count_bytes(options, length);
  }
  return hash;
}

// Restores the reader; nothing when the text is of another version.
std::optional<parser::LogReader> restore_reader(const storage::LogCursor& cursor) {
  const auto state = storage::decode_tail_state(cursor.parser_state);
  if (!state) return std::nullopt;
  auto reader = parser::LogReader::restore(state->reader_state);
  if (!reader || reader->committed_offset() != cursor.offset) return std::nullopt;
  return std::move(*reader);
}

}  // namespace

parser::Result<LogTail> LogTail::read(int fd, const std::optional<storage::LogCursor>& cursor,
                                      const TailOptions& options) {
  LogTail tail;
  if (cursor) {
    auto identity = check_identity(fd, *cursor);
    if (!identity) return tl::unexpected(identity.error());
    count_bytes(options, cursor->head_length + cursor->tail_length);
    if (*identity == Identity::shorter && !options.shrink_is_believed) {
      tail.verdict_ = Verdict::shorter;
      return tail;
    }
    const auto state = storage::decode_tail_state(cursor->parser_state);
    if (*identity == Identity::same && state && options.checks_content) {
      const auto hash = hash_file(fd, parser::kFnv1aBasis, 0, whole_words(cursor->offset), options);
      if (!hash) return tl::unexpected(hash.error());
      const bool was_stopped = options.stop != nullptr && options.stop->load();
      if (*hash != state->content_hash && !was_stopped) identity = Identity::rewritten;
    }
    const bool goes_on = *identity == Identity::same && !options.is_reread;
    auto reader = goes_on ? restore_reader(*cursor) : std::nullopt;
    if (reader) {
      tail.reader_ = std::move(*reader);
      tail.cursor_ = *cursor;
      tail.state_.content_hash = state->content_hash;
      tail.hashed_to_ = whole_words(cursor->offset);
    } else {
      tail.verdict_ = *identity == Identity::same ? Verdict::reread : Verdict::rewritten;
    }
  }
  if (auto blocks = tail.read_blocks(fd, options); !blocks) {
    return tl::unexpected(blocks.error());
  }
  struct stat status {};
  if (fstat(fd, &status) != 0) {
    return parser::fail(fmt::format("cannot examine the file: {}", std::strerror(errno)));
  }
  tail.file_ = options.packed_file.value_or(file_facts(status));
  if (options.packed_file) tail.packed_bytes_ = options.packed_file->size_bytes;
  tail.file_.size_bytes = static_cast<std::uint64_t>(status.st_size);
  tail.state_.modified_us = tail.file_.modified_us();
  tail.cursor_.parser_state = storage::encode_tail_state(tail.state_);
  tail.cursor_.device = tail.file_.device;
  tail.cursor_.inode = tail.file_.inode;
  if (auto fingerprint = take_fingerprint(fd, tail.cursor_); !fingerprint) {
    return tl::unexpected(fingerprint.error());
  }
  return tail;
}

parser::Result<void> LogTail::read_blocks(int fd, const TailOptions& options) {
  const std::uint64_t begin = cursor_.offset;
  const auto block = std::make_unique_for_overwrite<char[]>(kBlockBytes);
  read_to_ = begin;
  while (options.stop == nullptr || !options.stop->load(std::memory_order_relaxed)) {
    const ssize_t got = pread(fd, block.get(), kBlockBytes, static_cast<off_t>(read_to_));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      return parser::fail(
          fmt::format("cannot read at offset {}: {}", read_to_, std::strerror(errno)));
    }
    if (got == 0) {
      reached_end_ = true;
      break;
    }
    const auto length = static_cast<std::size_t>(got);
    reader_.feed({block.get(), length});
    if (auto hashed = hash_committed(fd, {block.get(), length}, options); !hashed) return hashed;
    read_to_ += length;
    count_bytes(options, length);
    auto samples = reader_.take_samples();
    samples_.insert(samples_.end(), std::make_move_iterator(samples.begin()),
                    std::make_move_iterator(samples.end()));
    const bool is_enough = !options.is_reread && (read_to_ - begin >= options.bytes_max ||
                                                  samples_.size() >= options.samples_max);
    if (is_enough && reader_.committed_offset() > begin) break;
  }
  cursor_.offset = reader_.committed_offset();
  state_.reader_state = reader_.save_state();
  return {};
}

// `block` begins at read_to_. Of a line that began in an earlier block, what was there is read
// again: only bytes of complete lines count.
parser::Result<void> LogTail::hash_committed(int fd, std::string_view block,
                                             const TailOptions& options) {
  const std::uint64_t end = whole_words(reader_.committed_offset());
  const std::uint64_t first_word = whole_words(read_to_ + kHashedWord - 1);
  if (hashed_to_ < std::min(first_word, end)) {
    const auto hash =
        hash_file(fd, state_.content_hash, hashed_to_, std::min(first_word, end), options);
    if (!hash) return tl::unexpected(hash.error());
    state_.content_hash = *hash;
    hashed_to_ = std::min(first_word, end);
  }
  if (hashed_to_ < end) {
    state_.content_hash =
        hash_words(block.substr(hashed_to_ - read_to_, end - hashed_to_), state_.content_hash);
    hashed_to_ = end;
  }
  return {};
}

void LogTail::settle() {
  reader_.finish();
  auto samples = reader_.take_samples();
  samples_.insert(samples_.end(), std::make_move_iterator(samples.begin()),
                  std::make_move_iterator(samples.end()));
  state_.settled_size = read_to_;
  cursor_.parser_state = storage::encode_tail_state(state_);
}

}  // namespace llmb::ingest
