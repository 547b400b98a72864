// EventRole: what each failure of a log is to the others, over ranks and attempts: the root, what
// other ranks made of it, or the ends of processes that followed.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "parser/log_facts.h"

namespace llmb::parser {

enum class EventRole {
  none,      // no failure
  root,      // the first cause of its attempt
  cascade,   // what a rank saw of another one's failure: lost peers, timeouts, exceptions
  symptom,   // a process ended, or was ended: signals, exit codes, launchers' tables, tracebacks
  survived,  // a warning, or training went on after it
};
std::string_view event_role_name(EventRole role);

struct EventPart {
  EventRole role = EventRole::none;
  std::size_t attempt = 0;  // 0, then one more for each restart inside the log
};

// One for each of `facts.events`. Each attempt has one root at most. `step_time_s`: the mean of the
// run's window, by which its summary tells the end, too; nothing where it is not known.
std::vector<EventPart> event_parts(const LogFacts& facts, std::optional<double> step_time_s);

}  // namespace llmb::parser
