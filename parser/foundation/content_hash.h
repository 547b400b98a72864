// 64-bit hashes of bytes that are the same in every build and on every machine, which std::hash is
// not. Some are stored in databases: their values must never change. None resists an adversary.
#pragma once

#include <cstdint>
#include <string_view>

namespace llmb::parser {

inline constexpr std::uint64_t kFnv1aBasis = 0xCBF29CE484222325ULL;

// FNV-1a. Of pieces that follow one another: give the hash of the earlier ones as `hash`.
constexpr std::uint64_t fnv1a(std::string_view bytes, std::uint64_t hash = kFnv1aBasis) {
  for (const char byte : bytes) {
    hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001B3ULL;
  }
  return hash;
}

// FNV-1a and a final mix, so that every input bit moves every output bit. Tells whether a file's
// bytes are still those that were read.
constexpr std::uint64_t content_hash(std::string_view bytes) {
  std::uint64_t hash = fnv1a(bytes);
  hash ^= hash >> 32U;
  hash *= 0xD6E8FEB86659FD93ULL;
  return hash ^ (hash >> 32U);
}

}  // namespace llmb::parser
