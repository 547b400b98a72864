// A 64-bit hash of a file's bytes, to tell whether they are still those that were read. Stored in
// the database: its values must never change.
#pragma once

#include <cstdint>
#include <string_view>

namespace llmb::ingest {

// FNV-1a with a final mix. Inputs are at most a KiB; nothing here guards against an adversary.
inline std::uint64_t content_hash(std::string_view bytes) {
  std::uint64_t hash = 0xCBF29CE484222325ULL;
  for (const char byte : bytes) {
    hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001B3ULL;
  }
  hash ^= hash >> 32;
  hash *= 0xD6E8FEB86659FD93ULL;
  return hash ^ (hash >> 32);
}

}  // namespace llmb::ingest
