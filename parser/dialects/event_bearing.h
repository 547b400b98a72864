// What an event bears on the others of its log, by its class and by what its line says: which of
// two of one class is told, and whose it is.
#pragma once

#include <span>

#include "parser/log_facts.h"

namespace llmb::parser {

// Whether the line says more than the earlier one of the same cause: a warning, or a complaint of a
// shell, gives way to the thing itself, and that something failed to why it did.
bool weighs_more(const LogEvent& event, const LogEvent& earlier);

// Whether it tells that a scheduler, or a user, ends the run.
bool states_end_from_outside(const LogEvent& event);

// Whether it tells of the thing itself: what ends processes from outside brings none about.
bool is_no_teardown(const LogEvent& event);

// Whether it tells why something failed, rather than that it did.
bool tells_why(const LogEvent& event);

// Whether it tells why, and may be of a script around the tasks: an exception, or a complaint of a
// shell, but for what ranks tell of each other.
bool may_be_of_a_script(const LogEvent& event);

// What a program tells of when it begins, and at no other time: where somebody had ended the run
// before, it is another attempt's.
bool tells_of_a_start(const LogEvent& event);

// What would be told of whatever failed in another attempt: why, and not that somebody ended it.
bool may_be_of_a_next_attempt(const LogEvent& event);

// Whether it tells that a process ended by itself, and leaves open why.
bool tells_of_an_own_end(const LogEvent& event);

// Whether the newest attempt was over when Slurm put the job back into its queue ("*** JOB 12 ON n1
// CANCELLED AT … DUE TO JOB REQUEUE ***"): its tasks had ended by themselves, and tell no more.
bool was_over_before_its_requeue(std::span<const LogEvent> events);

}  // namespace llmb::parser
