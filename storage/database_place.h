// Where a database is: the path of an SQLite file, or the URL of a PostgreSQL database.
#pragma once

#include <string>
#include <string_view>

namespace llmb::storage {

// "postgresql://…" or "postgres://…".
bool is_postgresql(std::string_view place);

// Whether several processes may write into it at a time, each the runs of its own roots. A file has
// one.
bool admits_several_writers(std::string_view place);

// As messages and logs may show it: a URL without its password and without its parameters.
std::string shown_place(const std::string& place);

}  // namespace llmb::storage
