// Hashes of short texts, by words of eight bytes. Saved states hold some: they stay as they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace llmb::parser {

inline constexpr std::uint64_t kHashFactor = 0x9e3779b97f4a7c15ULL;

inline std::uint64_t mix_hash(std::uint64_t value) {
  value ^= value >> 33U;
  value *= 0xff51afd7ed558ccdULL;
  return value ^ (value >> 33U);
}

// Eight bytes as they lie.
inline std::uint64_t word_at(const char* bytes) {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

inline std::uint64_t hash_text(std::string_view text, std::uint64_t seed) {
  constexpr std::size_t kWord = sizeof(std::uint64_t);
  std::uint64_t hash = mix_hash(seed ^ (text.size() * kHashFactor));
  if (text.size() < kWord) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data(), text.size());
    return mix_hash(hash ^ word);
  }
  for (std::size_t at = 0; at + kWord < text.size(); at += kWord) {
    hash = mix_hash(hash ^ word_at(text.data() + at));
  }
  return mix_hash(hash ^ word_at(text.data() + text.size() - kWord));  // may overlap
}

}  // namespace llmb::parser
