// What whoever puts a new database in the place of a damaged one gets back by itself, and what not.
#pragma once

namespace llmb::storage {

inline constexpr const char* kBeginningAnew =
    "the logs are read anew, but tokens, jobs, what was pruned and what agents pushed are in no "
    "log";

}  // namespace llmb::storage
