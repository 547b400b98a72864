#include "runner/parallel/rendezvous_key.h"

#include <bit>
#include <cstring>
#include <random>
#include <vector>

#include "parser/foundation/hex.h"

namespace llmb::runner {
namespace {

constexpr std::size_t kWord = sizeof(std::uint64_t);

// Up to eight bytes, the first one lowest.
std::uint64_t word_of(std::span<const std::byte> bytes) {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    word |= std::to_integer<std::uint64_t>(bytes[i]) << (8 * i);
  }
  return word;
}

// J.-P. Aumasson, D. J. Bernstein: SipHash, a fast short-input PRF (2012), section 2.
struct SipState {
  std::uint64_t v0;
  std::uint64_t v1;
  std::uint64_t v2;
  std::uint64_t v3;

  void mix(int rounds) {
    for (int i = 0; i < rounds; ++i) {
      v0 += v1;
      v2 += v3;
      v1 = std::rotl(v1, 13) ^ v0;
      v3 = std::rotl(v3, 16) ^ v2;
      v0 = std::rotl(v0, 32);
      v2 += v1;
      v0 += v3;
      v1 = std::rotl(v1, 17) ^ v2;
      v3 = std::rotl(v3, 21) ^ v0;
      v2 = std::rotl(v2, 32);
    }
  }
  void take(std::uint64_t word) {
    v3 ^= word;
    mix(2);
    v0 ^= word;
  }
};

}  // namespace

parser::Result<RendezvousKey> RendezvousKey::parse(std::string_view text) {
  RendezvousKey key;
  if (text.empty()) return key;
  std::array<std::byte, 2 * kWord> bytes{};
  const bool has_length = text.size() == 2 * bytes.size();
  for (std::size_t i = 0; has_length && i < bytes.size(); ++i) {
    const int high = parser::hex_value(text[2 * i]);
    const int low = parser::hex_value(text[2 * i + 1]);
    if (high < 0 || low < 0) return parser::fail("it has to be 32 hexadecimal digits");
    bytes[i] = static_cast<std::byte>(high * 16 + low);
  }
  if (!has_length) return parser::fail("it has to be 32 hexadecimal digits");
  key.first_ = word_of(std::span(bytes).first(kWord));
  key.second_ = word_of(std::span(bytes).last(kWord));
  return key;
}

RendezvousKey::Challenge RendezvousKey::new_challenge() {
  std::random_device random;
  Challenge challenge{};
  for (std::size_t i = 0; i < challenge.size(); i += sizeof(std::uint32_t)) {
    const std::uint32_t part = random();
    std::memcpy(challenge.data() + i, &part, sizeof part);
  }
  return challenge;
}

std::uint64_t RendezvousKey::sign(std::span<const std::byte> message) const {
  SipState state{first_ ^ 0x736f6d6570736575, second_ ^ 0x646f72616e646f6d,
                 first_ ^ 0x6c7967656e657261, second_ ^ 0x7465646279746573};
  const std::uint64_t length = message.size();
  while (message.size() >= kWord) {
    state.take(word_of(message.first(kWord)));
    message = message.subspan(kWord);
  }
  state.take(word_of(message) | length << 56);
  state.v2 ^= 0xff;
  state.mix(4);
  return state.v0 ^ state.v1 ^ state.v2 ^ state.v3;
}

std::uint64_t RendezvousKey::sign(const Challenge& challenge,
                                  std::span<const std::byte> message) const {
  std::vector<std::byte> all(challenge.begin(), challenge.end());
  all.insert(all.end(), message.begin(), message.end());
  return sign(all);
}

}  // namespace llmb::runner
