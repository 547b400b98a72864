// RereadRefusal: why --anew leaves a log as an earlier reading told it; in words, and counted.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace llmb::ingest {

// A log that is read again as a whole has so long a text at most, and so have those of a root that
// are under way together: what is read of them is in memory until it is stored.
inline constexpr std::uint64_t kWholeReadBytesMax = std::uint64_t{256} << 20U;
std::string whole_read_max_text();  // "256 MiB"

enum class RereadRefusal : std::uint8_t {
  too_long,         // for a whole read
  of_another_text,  // its compressed form is
  unreadable,
  none,  // it may still grow, or its turn has not come
};

inline constexpr std::array kRereadRefusals = {RereadRefusal::too_long,
                                               RereadRefusal::of_another_text,
                                               RereadRefusal::unreadable, RereadRefusal::none};

// What is said of such logs: "whose text is longer than 256 MiB".
std::string refusal_words(RereadRefusal refusal);

// How many logs that an earlier reading told are left as they are, by why.
class RereadsLeft {
 public:
  std::int64_t& of(RereadRefusal refusal) { return counts_[static_cast<std::size_t>(refusal)]; }
  std::int64_t of(RereadRefusal refusal) const {
    return counts_[static_cast<std::size_t>(refusal)];
  }

 private:
  std::array<std::int64_t, kRereadRefusals.size()> counts_{};
};

}  // namespace llmb::ingest
