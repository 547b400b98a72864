// safe_text: foreign text (the names of files and folders, lines of a log, what a request says)
// made safe for wherever it leaves as text: a terminal, the daemon's log, a csv file. What could
// begin a new line, move a cursor, turn the writing direction or break UTF-8 becomes \xNN; all else
// stays.
#pragma once

#include <string>
#include <string_view>

namespace llmb::parser {

std::string safe_text(std::string_view text);

}  // namespace llmb::parser
