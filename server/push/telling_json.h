// A log's telling (storage/push_records.h) as the JSON that agents send, and back.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "server/push/json_fields.h"
#include "storage/push_records.h"

namespace llmb::push {

// Raised with every change of what a telling holds. A server takes its own only: another would lose
// something without a word.
inline constexpr std::int64_t kFormat = 1;

Json telling_json(const storage::LogTelling& log);
storage::LogTelling read_telling(const Json& json);  // throws BadTelling

std::string_view push_verdict_name(storage::PushVerdict verdict);
std::optional<storage::PushVerdict> push_verdict_from_name(std::string_view name);

}  // namespace llmb::push
