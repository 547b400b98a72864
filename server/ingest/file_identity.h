// Whether a file is still the one that a cursor was made for. Device and inode alone do not say:
// inodes are used again, and rsync gives a growing copy a new one each time. So the content
// decides: the head as it was at first sight, and the bytes just before the offset.
#pragma once

#include <cstdint>
#include <string>

#include "parser/result.h"
#include "server/ingest/root_directory.h"
#include "storage/records.h"
#include "storage/tail_state.h"

namespace llmb::ingest {

constexpr std::uint32_t kHeadLength = 1024;
constexpr std::uint32_t kTailLength = 256;

enum class Identity {
  same,       // what was read is still there: go on at the offset
  rewritten,  // head or tail holds other bytes
  shorter,    // the bytes before the offset cannot be read: shrunk, or a stale size
};

// Reads at most kHeadLength + kTailLength bytes. Fails on an I/O error.
parser::Result<Identity> check_identity(int fd, const storage::LogCursor& cursor);

// By its inode and its time of modification the file is as it was at `state`; its size is not
// asked.
bool looks_untouched(const FileFacts& facts, const storage::LogCursor& cursor,
                     const storage::TailState& state);

// Sets the hashes and lengths for a cursor whose offset is set. A head shorter than kHeadLength
// is extended with what has been committed since, when it is `same`.
parser::Result<void> take_fingerprint(int fd, storage::LogCursor& cursor);

// Reads up to `length` bytes at `offset`; fewer at the end of the file. Fails on an I/O error.
parser::Result<std::string> read_at(int fd, std::uint64_t offset, std::size_t length);

}  // namespace llmb::ingest
