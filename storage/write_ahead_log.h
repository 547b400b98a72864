// What stands in a database's write-ahead log, read past SQLite: which pages it has in a newer form
// than the file does. SQLite reads those from the log, and copies them over the file's some time.
#pragma once

#include <cstdint>
#include <set>
#include <string>

namespace llmb::storage {

// The numbers, from 1, of all pages in whole transactions of the log at `path`, as SQLite would
// recover it; what was cut off or left from before does not count. Empty where there is no such
// log.
std::set<std::int64_t> pages_in_write_ahead_log(const std::string& path);

}  // namespace llmb::storage
