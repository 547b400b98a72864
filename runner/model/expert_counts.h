// ExpertCounts: where it is known how many rows each expert gets, whose products follow from that:
// one launch of an own kernel that reads the counts on the device, so that the host waits for
// nothing; or a product of the vendor's library for each expert, which the host has to have the
// counts for. Of no account where experts are shared out over ranks, for then the host has them
// anyway, to know what is sent.
#pragma once

#include <cstdint>

namespace llmb::runner {

enum class ExpertCounts : std::uint8_t { on_device, on_host };

}  // namespace llmb::runner
