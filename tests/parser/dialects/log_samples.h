// What the tests of this folder share: logs to read, and parsed logs as text that can be compared
// (StepSample's == does not hold for NaN) and kept as a golden file.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "parser/reader/log_reader.h"

namespace llmb::parser {

// Every field of samples and facts, as JSON with one line a sample. Equal text: equal log.
std::string to_json_text(const ParsedLog& log);

// Reads the text cut in two anywhere, the state handed on between: the same events, wherever.
void expect_same_events_however_cut(const std::string& text);

std::string read_file(const std::filesystem::path& path);

// tests/logs: <dialect>/<case>.log, sorted.
std::vector<std::filesystem::path> own_logs();

// The collection of real logs; empty path where this machine has none.
std::filesystem::path shared_logs();
// All *.log in it, sorted; none where there is no collection.
std::vector<std::filesystem::path> all_shared_logs();

}  // namespace llmb::parser
