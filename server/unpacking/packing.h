// What a file was compressed with: told from its first bytes, or promised by its name.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace llmb::unpacking {

enum class Packing { none, gzip, zstd, xz, bzip2 };

inline constexpr std::size_t kMagicBytes = 10;  // bzip2's; the others need fewer

// `head`: the first kMagicBytes of a file, or all of a shorter one. What is compressed otherwise
// (lz4, zip, .lzma) is `none`: it is not unpacked here.
Packing packing_of(std::string_view head);

// Of the names of files that are unpacked here.
inline constexpr std::array<std::string_view, 4> kSuffixes = {".gz", ".zst", ".xz", ".bz2"};
// Whether a name ends in one of them.
bool is_unpacked_by_name(std::string_view name);

}  // namespace llmb::unpacking
