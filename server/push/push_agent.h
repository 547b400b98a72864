// PushAgent: sends what the database of this machine holds of its logs to a central llmb-report,
// for as long as it lives. The database is the spool: an outage of any length costs no memory, and
// what was not acknowledged is sent again by whoever opens the database next. One thread, and one
// more for each of two requests that wait for their answers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "server/push/push_options.h"

namespace llmb::push {

struct PushStatus {
  std::int64_t logs_pending = 0;        // of which the server lacks something
  std::uint64_t logs_answered = 0;      // since the start; of a long log each piece
  std::uint64_t text_blocks_taken = 0;  // since the start
  bool lacks_text = false;              // the server does, of logs whose steps it has
  std::size_t texts_untaken = 0;        // logs whose text the server did not take
  bool is_level = false;      // the server has all; of an agent that leaves, its leave too
  std::string trouble;        // why nothing is sent just now; empty: all is well
  bool is_forbidden = false;  // that is the token, which waiting alone does not mend
};

// Not thread-safe, but for status().
class PushAgent {
 public:
  explicit PushAgent(PushOptions options);  // throws StorageError
  ~PushAgent();                             // stops
  PushAgent(const PushAgent&) = delete;
  PushAgent& operator=(const PushAgent&) = delete;

  void start();
  // Within a fifth of a second; while a log's text is read, once that is there.
  void stop();
  PushStatus status() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace llmb::push
