// PushBatches: what is to be sent next, of the logs of which a server lacks something: each log in
// its turn, as many at once as make a request of about a MiB.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "storage/push_store.h"

namespace llmb::push {

// What has to be known of a log when the server answers.
struct ToldLog {
  storage::RunId run = 0;
  std::string root_path;
  std::string relative_path;
  std::int64_t revision = 0;
  storage::StepKey end;  // where the telling after this one begins
};

struct Batch {
  std::vector<ToldLog> logs;
  std::vector<std::string> packed;  // the same as packed_log()
  bool is_full = false;             // there may be more to send
};

// Not thread-safe. Throws StorageError.
class PushBatches {
 public:
  explicit PushBatches(storage::PushStore& store);  // which outlives it

  // Empty: the server lacks nothing but of those that are left out.
  Batch next(const std::function<bool(storage::RunId)>& is_left_out);
  // Something in the batch was refused: its logs come one by one, ...
  void divide(const Batch& batch);
  // ... and more of them again with each batch that was taken.
  void grow();

 private:
  storage::PushStore& store_;
  storage::RunId after_ = 0;  // of the last log that was gathered: all get their turn
  std::size_t logs_at_once_;
};

}  // namespace llmb::push
