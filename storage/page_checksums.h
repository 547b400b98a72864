// Checksums of a database's pages: the last eight bytes of each page are kept free for one, which
// is written with the page and compared with every reading, so that a bit that changed on the disk
// is an error which names the page, and never another value. SQLite reaches its files through here;
// a database that was made without checksums is read and written as it is. One that was opened as
// standing still (still_database.h) fails with SQLITE_BUSY_SNAPSHOT where it is that no longer.
#pragma once

#include <cstdint>
#include <string>

namespace llmb::storage {

inline constexpr int kPageChecksumBytes = 8;

// The name, for sqlite3_open_v2(), of the file system that does it. Thread-safe.
const char* checked_file_system();

// Where the last reading of this thread that failed so found a page that is not as it was written:
// "page 7 (bytes 24576 to 28671)".
std::string last_changed_page();

}  // namespace llmb::storage
