// FileTable: what discovery knows of every log of its root, when it wants to look at each again,
// and the sums over them that a root reports. Compact, because a tree has a hundred thousand logs:
// everything else is in the database. Used by the discovery thread only.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <queue>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "server/ingest/ingest_status.h"
#include "server/ingest/read_job.h"

namespace llmb::ingest {

using DirectoryIndex = std::uint32_t;  // into the scanner's DirectoryTable
inline constexpr DirectoryIndex kNoDirectory = UINT32_MAX;

// Of a log that went away: the compressed form of it that is there.
enum class PackedForm : std::uint8_t {
  none,
  as_read,  // it says no more than was read, as far as is known, or is one that cannot be unpacked
  unread,   // it can be unpacked, and is not as it was when it was last read to its end
};

struct FileState {
  std::string relative_path;
  LogMemory memory;
  SteadyTime due = SteadyTime::max();
  SteadyTime read_at{};  // when it was last given to a reader
  std::uint64_t pending_bytes = 0;
  DirectoryIndex directory = kNoDirectory;  // where a listing met it; kNoDirectory: none did yet
  std::uint32_t listing_seen = 0;           // the last listing of that directory that met it
  std::uint16_t failures = 0;
  std::uint8_t shrink_polls = 0;
  RereadRefusal refusal = RereadRefusal::none;
  bool is_queued : 1 = false;         // waits for a reader, or is with one
  bool is_changed_again : 1 = false;  // changed while it was queued
  bool is_parked : 1 = false;         // failed: rests until `due`
  bool is_vanished : 1 = false;
  bool wants_configuration : 1 = false;
  bool wants_content_check : 1 = false;
  bool wants_verdict : 1 = false;  // its job may have ended
  bool wants_reread : 1 = false;   // whole; other logs come first
  PackedForm packed_form = PackedForm::none;

  bool is_packed_away() const { return packed_form != PackedForm::none; }

  // It may have gone away before it was read to its end: its compressed form has the rest. That it
  // has settled is no proof: it may have gone on after a silence.
  bool wants_rest() const { return packed_form == PackedForm::unread && !memory.job_has_ended; }

  // And its text is there.
  bool is_told_by_earlier_reading() const {
    return memory.is_of_earlier_reading && (!is_vanished || is_packed_away());
  }
};

class FileTable {
 public:
  FileIndex add(std::string relative_path);
  std::optional<FileIndex> find(std::string_view relative_path) const;
  // Looks at all of them.
  std::optional<FileIndex> find(storage::RunId run) const;
  FileState& at(FileIndex index) { return files_[index]; }
  std::size_t size() const { return files_.size(); }

  // Wants a look at `due`; replaces what was wanted before. SteadyTime::max(): none.
  void schedule(FileIndex index, SteadyTime due);
  // The next file that is due, taken from the schedule.
  std::optional<FileIndex> take_due(SteadyTime now);
  SteadyTime next_due();

  // These change the file and the sums together. True: it was otherwise before.
  bool set_queued(FileState& file, bool is_queued);
  bool set_parked(FileState& file, bool is_parked);
  bool set_vanished(FileState& file, bool is_vanished);
  void set_pending(FileState& file, std::uint64_t bytes);
  void set_memory(FileState& file, const LogMemory& memory);
  void set_packed_form(FileState& file, PackedForm form);
  void set_refusal(FileState& file, RereadRefusal refusal);

  struct Sums {
    std::int64_t queued = 0;
    std::int64_t parked = 0;
    std::int64_t vanished = 0;            // and not there in another form
    std::int64_t of_earlier_reading = 0;  // told by one, and there
    RereadsLeft rereads_left;             // of these
    std::uint64_t pending_bytes = 0;
  };
  const Sums& sums() const { return sums_; }

 private:
  struct Due {
    SteadyTime at;
    FileIndex file;
    bool operator>(const Due& other) const { return at > other.at; }
  };
  void drop_outdated();
  void count_text(const FileState& file, int sign);
  // Changes the file, and its share of the sums.
  template <typename Change>
  void recount_text(FileState& file, Change change);

  std::deque<FileState> files_;  // addresses stay: the index holds views of the paths
  std::unordered_map<std::string_view, FileIndex> by_path_;
  // Entries that FileState::due no longer agrees with are outdated, and dropped when met.
  std::priority_queue<Due, std::vector<Due>, std::greater<>> due_;
  Sums sums_;
};

}  // namespace llmb::ingest
