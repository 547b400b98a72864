// RendezvousKey: the secret of a job by which its ranks know one another. It never travels: whoever
// shows that he has it, signs what the other end has just made up. SipHash-2-4, a keyed hash.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "parser/result.h"

namespace llmb::runner {

class RendezvousKey {
 public:
  // Made up anew for each connection.
  using Challenge = std::array<std::byte, 16>;

  RendezvousKey() = default;  // known to everybody: for ranks that were given none
  // 32 hexadecimal digits; empty text is the key that everybody knows. The error does not hold it.
  static parser::Result<RendezvousKey> parse(std::string_view text);
  static Challenge new_challenge();

  std::uint64_t sign(std::span<const std::byte> message) const;
  std::uint64_t sign(const Challenge& challenge, std::span<const std::byte> message) const;

 private:
  std::uint64_t first_ = 0;
  std::uint64_t second_ = 0;
};

}  // namespace llmb::runner
