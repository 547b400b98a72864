// A log's telling (storage/push_records.h) as the JSON that agents send, and back.
#pragma once

#include <cstdint>

#include "server/push/json_fields.h"
#include "storage/push_records.h"

namespace llmb::push {

// Raised with every change of what a telling holds. A server takes its own only: another would lose
// something without a word.
inline constexpr std::int64_t kFormat = 1;

Json telling_json(const storage::LogTelling& log);
storage::LogTelling read_telling(const Json& json);  // throws BadTelling

}  // namespace llmb::push
