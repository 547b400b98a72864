// What stands in the table writer_mark of a PostgreSQL database beside what its writers committed
// last. A file has one writer, and no such table.
#pragma once

namespace llmb::storage {

// No writer has committed it: who finds it as its own has lost what it claimed. Another one each
// time.
inline constexpr const char* kNoRevisionSql = "-1 - CAST(random() * 1e15 AS bigint)";

// The name of the mark that agents compare by.
inline constexpr const char* kAgentsMark = "agents";

}  // namespace llmb::storage
