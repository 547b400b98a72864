// FirstCause: which of a log's failures is the cause, and which only follow from it. The head of a
// traceback comes before its cause, and the teardown of a thousand ranks after it.
#pragma once

#include "parser/dialects/failure_class.h"
#include "parser/log_facts.h"

namespace llmb::parser {

// Events are offered in the order of the log, and outlive it.
class FirstCause {
 public:
  void offer(const LogEvent& failure);

  // Null where nothing was offered.
  const LogEvent* chosen() const { return chosen_; }

 private:
  const LogEvent* chosen_ = nullptr;
  CauseDepth depth_ = CauseDepth::consequence;
  bool is_over_ = false;  // the scheduler ended the run: the rest is teardown
};

}  // namespace llmb::parser
