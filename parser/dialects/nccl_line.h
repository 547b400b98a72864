// What a line of a trace holds beside its call: a label, or another program's words. All ranks
// write into one file, so that a call may be glued to either end of them.
#pragma once

#include <string>
#include <string_view>

namespace llmb::parser {

// Whether `prefix`, which stands before "NCCL INFO", is a label and no words of another line:
// "host:pid:tid [0] " or "[0] ", or nothing, behind whatever launchers and collectors put before a
// line; before a host, also labels that nobody knows, as long as they say nothing.
bool is_nccl_label(std::string_view prefix);

// "host:pid" of a label: the threads of a process share its communicators. What stands before
// "[0] " and behind a stamp, where it names no host.
std::string_view nccl_process(std::string_view label);

// The words of others: `line` without its whole calls, those that are cut at its end or before
// another, and their labels. Of a label that is glued to a word its host stays, for where it begins
// nobody can tell ("MiBnode7:11:12 [0] ").
std::string without_nccl_calls(std::string_view line);

}  // namespace llmb::parser
