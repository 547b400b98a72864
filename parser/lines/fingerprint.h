// A fingerprint: the few adjacent bytes of a literal, rare in logs, by which a block is searched
// for it, and what a search is: its engine and its hits. fingerprint_plan.h says how they are used.
#pragma once

#include <cstddef>

namespace llmb::parser {

inline constexpr std::size_t kFingerprintBytes = 8;

// `best` is the fastest that this program was built with and this CPU has. All find the same.
enum class ScanEngine { best, portable, ssse3, avx2, avx512, neon };

struct LiteralHit {
  std::size_t position = 0;  // in the block
  std::size_t literal = 0;   // index into the scanner's literals

  bool operator==(const LiteralHit&) const = default;
};

}  // namespace llmb::parser
