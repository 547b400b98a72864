// What a line of a trace holds beside its call: a label, or another program's words. All ranks
// write into one file, so that a call may be glued to either end of them.
#pragma once

#include <string>
#include <string_view>

namespace llmb::parser {

// Whether `prefix`, which stands before "NCCL INFO", is a label and no words of another line:
// "host:pid:tid [0] " or "[0] ", or nothing, behind whatever launchers and collectors put before a
// line.
bool is_nccl_label(std::string_view prefix);

// The words of others: `line` without its whole calls and their labels. Of a label that is glued to
// a word its host stays, for where it begins nobody can tell ("MiBnode7:11:12 [0] ").
std::string without_nccl_calls(std::string_view line);

}  // namespace llmb::parser
