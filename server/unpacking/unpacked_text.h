// The text of a compressed log as a file of its own, so that whoever reads logs at offsets reads it
// as any other. Nothing of it is seen in a folder: it has no name, and is gone when it is closed.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include "parser/foundation/file_descriptor.h"
#include "parser/result.h"
#include "server/unpacking/packing.h"

namespace llmb::unpacking {

// A text that is longer is not unpacked: a few MB may claim to be as much as a disk holds.
inline constexpr std::uint64_t kTextBytesMax = std::uint64_t{8} << 30U;

// Of the first bytes of the file that is open as `fd`, wherever it stands. Fails on an I/O error.
parser::Result<Packing> packing_of_file(int fd);

struct UnpackedText {
  parser::FileDescriptor file;
  std::string flaw;  // why it is not all of the text, as Unpacker::flaw(); empty: it is
};

// The text of the whole file, wherever `fd` stands; of one that ends in the middle, or is damaged,
// the text up to there. It is kept in $TMPDIR, else in /tmp, else in memory. `goes_on` is asked, if
// there is one, after each block: false ends it with an error.
parser::Result<UnpackedText> unpack_file(int fd, Packing packing,
                                         const std::function<bool()>& goes_on = {});

}  // namespace llmb::unpacking
