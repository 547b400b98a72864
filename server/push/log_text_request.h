// The body of POST /api/v1/push/text: who sends, and blocks of the text of logs that were told.
// Each block is zstd on its way, and is kept as it came.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "server/push/push_request.h"
#include "storage/push_records.h"

namespace llmb::push {

inline constexpr const char* kTextContentType = "application/vnd.llmb-report.log-text";
inline constexpr std::size_t kTextBlocksMax = 64;  // in one request

struct LogTextRequest {
  PushHead head;
  std::vector<storage::LogBlockTelling> blocks;
};

// `text` has kLogBlockBytes at most, and stands at `first_byte` of its log.
storage::LogBlock packed_block(std::uint64_t first_byte, std::string_view text);
// Nothing where the block is not as packed_block() makes them.
std::optional<std::string> unpacked_block(const storage::LogBlock& block);

std::string packed_text_request(const PushHead& head,
                                const std::vector<storage::LogBlockTelling>& blocks);
// Throws BadField (packed_values.h), also where a block holds other bytes than it says.
LogTextRequest unpack_text_request(std::string_view body);

}  // namespace llmb::push
