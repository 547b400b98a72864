// What an agent's database and a server's say to each other of a log, as values: a telling, the
// server's answer to it, and what it holds. No SQL here, and no JSON.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "parser/foundation/instant.h"
#include "storage/records.h"

namespace llmb::storage {

// A place in the order of a run's steps.
struct StepKey {
  std::int64_t segment = 0;
  std::int64_t iteration = 0;
  bool operator==(const StepKey&) const = default;
  bool operator<(const StepKey& other) const {
    return segment < other.segment || (segment == other.segment && iteration < other.iteration);
  }
};
inline constexpr StepKey kBeforeAllSteps{-1, 0};
inline constexpr StepKey kBehindAllSteps{std::numeric_limits<std::int64_t>::max(), 0};

// All that a store says of one generation of one log in one revision; of the steps those from
// `from` on, so that a server which has the ones before gets each once.
struct LogTelling {
  std::string root_path;
  RunRecord run;  // its id and root_id are the store's own
  std::uint64_t head_hash = 0;
  std::uint32_t head_length = 0;
  // What the server holds of this log by this store's word, as far as it knows; 0: nothing. A
  // request that comes late, when more has been stored, is told by them.
  std::int64_t known_revision = 0;
  std::int64_t known_step_count = 0;
  StepKey from = kBeforeAllSteps;
  std::vector<parser::StepSample> steps;  // in their order
  // The same; not sent, but made by who receives it where these are all steps of a settled log.
  std::vector<PackedChunk> packed_steps;
  bool has_more = false;    // further steps follow in another telling
  bool is_settled = false;  // the store awaits no more of the log

  bool is_whole() const { return from == kBeforeAllSteps; }
  // With this telling.
  bool is_settled_now() const { return is_settled && !has_more; }
  // Where the telling after this one begins.
  StepKey end() const {
    if (!has_more || steps.empty()) return kBehindAllSteps;
    return {steps.back().segment, steps.back().iteration + 1};
  }
};

struct PushSender {
  std::string store_id;
  std::string cluster;
  parser::Instant now;  // by the server's clock
  // By how much the sender's own clock is ahead of that.
  parser::Instant::duration clock_ahead{};
};

enum class PushVerdict {
  taken,     // stored
  known,     // it had been stored already
  covered,   // another store has told as much or more of the same bytes, or they were removed here
  deferred,  // another store tells this log just now; to be sent again later
  conflict,  // the server holds another revision than the sender believes: send all of it
};

struct PushResult {
  PushVerdict verdict = PushVerdict::taken;
  // What the server now holds by this store's word, or, where another store told as much, holds
  // this store to have told; 0: none.
  std::int64_t revision = 0;
  std::int64_t step_count = 0;
  RunId run = 0;
};

// A log's text travels and is kept in blocks of this size, each as zstd; the last one is shorter.
inline constexpr std::uint64_t kLogBlockBytes = std::uint64_t{256} << 10U;
// Of a longer log the middle is neither sent nor kept.
inline constexpr std::uint64_t kLogHeadBytes = std::uint64_t{16} << 20U;
inline constexpr std::uint64_t kLogTailBytes = std::uint64_t{48} << 20U;

struct LogBlock {
  std::uint64_t first_byte = 0;  // a multiple of kLogBlockBytes
  std::uint64_t byte_count = 0;
  std::string packed;
};

// Where a block is, without what it holds.
struct LogBlockPlace {
  std::uint64_t first_byte = 0;
  std::uint64_t byte_count = 0;
  std::uint64_t packed_bytes = 0;
};

// A block of the log that a store knows by this path and generation.
struct LogBlockTelling {
  std::string root_path;
  std::string relative_path;
  std::int64_t generation = 0;
  LogBlock block;
};

// A log as a server holds it by a store's word, or by another's that says as much, or held it until
// it was removed on purpose.
struct HeldLog {
  RunId run = 0;  // the server's
  std::string root_path;
  std::string relative_path;
  std::int64_t generation = 0;  // these two are the store's numbers
  std::int64_t revision = 0;
  std::int64_t step_count = 0;
  std::uint64_t text_bytes = 0;  // where the last block of its text ends
};

// An agent that had pushed all and has been silent for longer is not listed: its database is gone,
// most likely, and nothing is missing here.
inline constexpr std::chrono::days kListedSilence{30};

// Who pushes to a server, as it spoke last.
struct PushAgentRecord {
  std::string store_id;
  std::string cluster;
  std::string name;     // of its machine
  std::string version;  // of its program
  std::string last_seen_at;
  std::int64_t logs_pending = 0;
  std::optional<std::string> pending_since;  // by its own clock
};

}  // namespace llmb::storage
