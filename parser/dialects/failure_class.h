// What can end a run: the classes of failure, how near each stands to the true cause, and what a
// user can do about it. The lines that show a class are in failure_signs.cpp; which of several
// failures of one log came first is told by FirstCause (parser/statistics/first_cause.h).
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace llmb::parser {

// How far a line of this class usually stands from what really happened. Of several failures the
// nearest counts, and of equally near ones the first.
enum class CauseDepth {
  root,           // the thing itself: memory ran out, a file is missing, a node died
  likely_root,    // an exception whose class follows from where it was raised
  communication,  // may be the thing itself, or what other ranks see of it
  worker_signal,  // a launcher names the signal that killed a worker
  peer_lost,      // a rank's partner went away: something else made it go
  exception,      // a Python exception that no class names
  worker_failed,  // a launcher saw a worker fail: its own traceback says no more
  traceback,      // the head of a traceback, whose last line is the cause
  killed,         // a task was killed, or was ended because another one failed
  complaint,      // a shell or a step's daemon could not do something, and goes on
  survivable,     // a warning: the program said that it goes on
  consequence,    // a task ended with an error code
  none,           // further than all others
};

// Not a failure: what came before it is of an attempt that a launcher or a scheduler gave up, and
// began anew.
inline constexpr std::string_view kRestarted = "restarted";
// A program begins: where somebody had ended the run before, that is a restart, else no event.
inline constexpr std::string_view kStarted = "started";
// The program has trained all: no event by itself.
inline constexpr std::string_view kTrainingOver = "training_over";
// Not a failure: what counts went on behind what came before it, which was survived; or that
// was a complaint of a helper behind all that was to be trained.
inline constexpr std::string_view kWentOn = "went_on";
// A finish marker that no program is known by: somebody says behind a failure that all ended well.
inline constexpr std::string_view kEndedWell = "ended_well";

// Whether an event of this cause ends what may be held against the run: what comes behind is of a
// new attempt, or of a run that lives.
constexpr bool begins_anew(std::string_view cause) {
  return cause == kRestarted || cause == kWentOn;
}

struct FailureClass {
  std::string_view cause;  // LogEvent::cause
  CauseDepth depth = CauseDepth::root;
  std::string_view advice;
  // The scheduler or a user ended the run, and what follows is teardown. It counts before earlier
  // failures of this depth or further; after a nearer one it is teardown itself.
  std::optional<CauseDepth> ends_run_over;
};

std::span<const FailureClass> failure_classes();

// Null for a cause that is in no table, as events of another version may have.
const FailureClass* find_failure_class(std::string_view cause);

}  // namespace llmb::parser
