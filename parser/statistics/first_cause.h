// FirstCause: which of a log's failures is the cause, and which only follow from it. The head of a
// traceback comes before its cause, a warning before what really ends the run, and the teardown of
// a thousand ranks after it.
#pragma once

#include "parser/dialects/failure_class.h"
#include "parser/log_facts.h"

namespace llmb::parser {

// How far from the cause an event stands, by its class and by what its line says.
CauseDepth depth_of(const LogEvent& failure);

// Whether a scheduler or a launcher says that a process has ended, or is being ended. Before that a
// run that goes on writing has not failed, whatever its lines hold.
bool announces_end(const LogEvent& failure);

// Whether it tells that a process ended, and nothing of why. Then what a rank said shortly before
// counts, though another one logged some steps more until it was ended, too.
bool says_no_reason(const LogEvent& failure);

// Whether it tells that other processes did not come, or had gone: behind an attempt that failed,
// by what that one failed.
bool misses_others(const LogEvent& failure);

// Whether it may be such a word. Before the first of a few steps only the thing itself is one, for
// a rank's lines may come late; but where a program could not be started, it logged no steps then.
bool may_be_last_word(const LogEvent& failure, bool is_before_first_step);

// Events are offered in the order of the log, and outlive it.
class FirstCause {
 public:
  void offer(const LogEvent& failure);

  // Of the newest attempt; of an earlier one, that nobody ended from outside, where that says no
  // reason, or misses others; of before what counts went on, where what came since says no reason.
  // Null where nothing was offered, or nothing since.
  const LogEvent* chosen() const;

  // The newest attempt's first word of a launcher or a scheduler that a process has ended; null for
  // none.
  const LogEvent* first_end() const { return first_end_; }

 private:
  void begin_attempt();
  void go_on(const LogEvent& event);

  const LogEvent* of_earlier_attempts_ = nullptr;
  const LogEvent* chosen_ = nullptr;
  const LogEvent* first_end_ = nullptr;  // that a launcher or a scheduler told
  const LogEvent* warned_ = nullptr;     // the newest warning of what may stop a rank
  bool was_torn_down_ = false;           // by the scheduler, after what is chosen
  CauseDepth depth_ = CauseDepth::none;
  bool was_restarted_ = false;
  bool went_on_ = false;  // since what came before
  bool is_over_ = false;  // the scheduler ended the run: the rest is teardown
};

// Whether what a rank said shortly before, while another one went on logging steps, is why the run
// ended: what `cause` has chosen says no reason, or only that others went or did not come. False
// where it has chosen nothing.
bool explains(const LogEvent& last_word, const FirstCause& cause);

}  // namespace llmb::parser
