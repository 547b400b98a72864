// RunChange: what a transaction of a writer did to a run, as the writer tells it to its own process
// and announces it to other servers (change_listener.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/job_records.h"
#include "storage/records.h"

namespace llmb::storage {

struct RunChange {
  // Status: what is known of it changed, but its log brought no new bytes. Removed: of an older
  // generation; what retention removes is a change of anything.
  enum class Kind { added, grown, status, superseded, removed };
  Kind kind = Kind::grown;
  RunId run = 0;

  bool operator==(const RunChange&) const = default;
};

// A transaction that raised the data's revision to this one, or, where it is 0, one that changed a
// job and no run.
struct DataChange {
  std::int64_t revision = 0;
  // In the order in which they changed. None: anything may have changed.
  std::vector<RunChange> runs = {};
  std::optional<JobRowId> job = {};
};

// What fits a notification of PostgreSQL, whose payload is shorter than 8,000 bytes.
inline constexpr std::size_t kAnnouncementBytesMax = 7'999;

// "job 17".
std::string job_announcement_text(JobRowId job);
// "4711 g12 13 a14": the revision, then the runs, each kind before the first of those that have it.
// The revision alone where all of them would be longer than kAnnouncementBytesMax.
std::string announcement_text(const DataChange& change);
// Nothing: it is none. A kind of a later version is a change of anything.
std::optional<DataChange> parse_announcement(std::string_view text);

}  // namespace llmb::storage
