// A 64-bit hash of a whole log, eight bytes at a time, that goes on from what the bytes before
// gave: to tell whether they are still those that were read. Stored in the database: its values
// must never change. Does not resist an adversary.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "parser/foundation/content_hash.h"

namespace llmb::ingest {

inline constexpr std::size_t kHashedWord = 8;

// Of the whole words of `bytes`; fewer bytes at the end are left out.
inline std::uint64_t hash_words(std::string_view bytes, std::uint64_t hash = parser::kFnv1aBasis) {
  for (std::size_t at = 0; at + kHashedWord <= bytes.size(); at += kHashedWord) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, kHashedWord);
    hash = (hash ^ word) * 0xD6E8FEB86659FD93ULL;
    hash ^= hash >> 29U;
  }
  return hash;
}

}  // namespace llmb::ingest
