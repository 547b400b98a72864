// LogTexts: which text of logs is to be sent next, of those whose steps the server has. It is read
// from the logs as it is sent: the database holds none of it.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "server/push/push_options.h"
#include "storage/push_store.h"

namespace llmb::push {

// Not thread-safe. Throws StorageError.
class LogTexts {
 public:
  // `store` outlives it. A log that grows is sent at most every `rest`.
  LogTexts(storage::PushStore& store, ReadLogText read, std::chrono::milliseconds rest);

  // The blocks of one request, each log's in their order. Empty: nothing is to be sent just now. A
  // log that cannot be read is left out, with a word in the program's log, until it changes.
  std::vector<storage::LogBlockTelling> next();
  // What the server answered to those: of each block where the text that it holds of the log ends,
  // nothing where it holds no such log.
  void keep(const std::vector<std::optional<std::uint64_t>>& ends);
  // The server has all that it takes, also of those that rest.
  bool is_level();
  // Of so many logs the server did not take the text that was sent last.
  std::size_t untaken_count() const { return untaken_.size(); }

 private:
  using Clock = std::chrono::steady_clock;
  // Adds what fits in a request.
  void add(storage::RunId run, std::vector<storage::LogBlockTelling>& blocks);

  storage::PushStore& store_;
  const ReadLogText read_;
  const std::chrono::milliseconds rest_;
  storage::RunId after_ = 0;          // all get their turn
  std::vector<storage::RunId> sent_;  // the run of each block of the last request
  std::uint64_t packed_bytes_ = 0;    // of the request that is gathered
  std::unordered_map<storage::RunId, Clock::time_point> resting_until_;
  std::unordered_set<storage::RunId> untaken_;
};

}  // namespace llmb::push
