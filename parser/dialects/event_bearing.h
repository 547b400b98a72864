// What an event bears on the others of its log, by its class and by what its line says: which of
// two of one class is told, and whose it is.
#pragma once

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

}  // namespace llmb::parser
