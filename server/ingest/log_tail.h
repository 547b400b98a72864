// LogTail: reads what was appended to one log since its cursor, in bounded memory. Knows files
// and the LogReader; neither the database nor the clock.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parser/reader/log_reader.h"
#include "parser/result.h"
#include "server/ingest/call_watch.h"
#include "server/ingest/root_directory.h"
#include "server/ingest/word_hash.h"
#include "storage/records.h"
#include "storage/tail_state.h"

namespace llmb::ingest {

struct TailOptions {
  // One tick ends after this many bytes or samples, so that a huge log starves no other. It goes
  // on past them until a line is complete: a tick that commits nothing would only be repeated.
  std::uint64_t bytes_max = 64ULL << 20;
  std::size_t samples_max = 16'384;
  // The bytes before the offset were missing on several polls: the file was truncated.
  bool shrink_is_believed = false;
  // Reads all bytes before the offset again, and compares them with those that were read.
  bool checks_content = false;
  // Reads from its start, and whole, a log that is as it was, whatever state the cursor has.
  bool is_reread = false;
  // Of a compressed log, whose text is read: what stat says of its file.
  std::optional<FileFacts> packed_file;
  const std::atomic<bool>* stop = nullptr;           // ends a tick between two blocks
  std::atomic<std::uint64_t>* bytes_read = nullptr;  // counts all bytes read, fingerprints too
  CallWatch* watch = nullptr;                        // told of each block that came
};

class LogTail {
 public:
  enum class Verdict {
    same,       // goes on where the cursor stood (or is new)
    rewritten,  // not the file that was read: begins a new generation at offset 0
    reread,     // the same file, from offset 0: as asked, or the state is of another version
    shorter,    // nothing was read: the bytes before the offset are not there on this look
  };

  // Checks the cursor, reads and parses. Fails on an I/O error; then nothing may be committed.
  static parser::Result<LogTail> read(int fd, const std::optional<storage::LogCursor>& cursor,
                                      const TailOptions& options);

  Verdict verdict() const { return verdict_; }
  const parser::LogFacts& facts() const { return reader_.facts(); }
  std::vector<parser::StepSample>& samples() { return samples_; }
  // Stands at the end of the last complete line.
  const storage::LogCursor& cursor() const { return cursor_; }
  bool reached_end() const { return reached_end_; }
  // Where reading stopped: cursor().offset plus the bytes of an unterminated last line.
  std::uint64_t read_to() const { return read_to_; }
  // Of a compressed log its file's, but for the size: that is the text's.
  const FileFacts& file() const { return file_; }
  bool is_packed() const { return packed_bytes_.has_value(); }
  // The size of the file by which it is seen whether there is more.
  std::uint64_t size_seen() const { return packed_bytes_.value_or(read_to_); }

  // The job is over: an unterminated last line counts as it stands, and so does what a dialect
  // held back for a further line. The cursor stays where it was, so that the line is read again,
  // and its samples replaced, should the log grow after all.
  void settle();

 private:
  LogTail() = default;
  parser::Result<void> read_blocks(int fd, const TailOptions& options);
  parser::Result<void> hash_committed(int fd, std::string_view block, const TailOptions& options);

  Verdict verdict_ = Verdict::same;
  parser::LogReader reader_;
  storage::TailState state_;  // as of cursor_
  std::vector<parser::StepSample> samples_;
  storage::LogCursor cursor_;
  FileFacts file_;
  std::optional<std::uint64_t> packed_bytes_;
  std::uint64_t read_to_ = 0;
  std::uint64_t hashed_to_ = 0;  // state_.content_hash covers the bytes before
  bool reached_end_ = false;
};

}  // namespace llmb::ingest
