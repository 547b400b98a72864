// A log's telling (storage/push_records.h) as the bytes that agents send, and back.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "storage/packed_values.h"
#include "storage/push_records.h"

namespace llmb::push {

// Raised with every change of how a request is written.
inline constexpr std::int64_t kFormat = 6;
// Of the names of all that a telling holds, in their order: differs where a field was added and
// kFormat forgotten.
std::uint64_t form_hash();

void pack_telling(storage::PackWriter& writer, const storage::LogTelling& log);
storage::LogTelling unpack_telling(storage::PackReader& reader);  // throws BadField

std::string_view push_verdict_name(storage::PushVerdict verdict);
std::optional<storage::PushVerdict> push_verdict_from_name(std::string_view name);

}  // namespace llmb::push
