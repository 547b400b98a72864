// The first bytes of a database file, as SQLite documents them: what tells whose it is before
// SQLite does anything with it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace llmb::storage {

// "LLMB" in ASCII: what `file` and other programs know our databases by.
inline constexpr std::int64_t kApplicationId = 0x4C4C4D42;

inline constexpr std::size_t kHeaderBytes = 100;
inline constexpr std::size_t kMagicBytes = 16;

// Whether its first kMagicBytes bytes are those of SQLite's databases.
bool begins_as_database(std::string_view header);

// True for a database that has tables and another program's id, or none. A file that is shorter, or
// no database, is not for this to judge.
bool is_of_another_program(std::string_view header);

// How many bytes at the end of each page are not SQLite's.
int reserved_bytes_by_header(std::string_view header);

// How long the file has to be; 0 where that is not known. What is in the write-ahead log is not
// counted.
std::uint64_t bytes_by_header(std::string_view header);

}  // namespace llmb::storage
