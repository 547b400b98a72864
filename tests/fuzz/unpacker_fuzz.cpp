// libFuzzer target: compressed files, as anybody may leave them in a tree. Whatever the bytes are,
// they are unpacked or refused, and in the same way however they were cut; what a library packed
// and was damaged then, and has a check, gives its own text or none.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "parser/foundation/file_descriptor.h"
#include "server/unpacking/unpacker.h"
#include "tests/server/unpacking/packed_bytes.h"

namespace {

using llmb::unpacking::Packing;

constexpr std::size_t kTextBytesMax = std::size_t{4} << 20U;

struct Unpacked {
  std::string text;
  bool is_whole = false;
};

void require(bool holds) {
  if (!holds) std::abort();
}

// The first `head_bytes` as what was read before, the others as a file.
Unpacked unpacked(std::string_view packed, Packing packing, std::size_t head_bytes) {
  const llmb::parser::FileDescriptor file(memfd_create("packed", MFD_CLOEXEC));
  const std::string_view rest = packed.substr(head_bytes);
  require(::write(file.get(), rest.data(), rest.size()) == static_cast<ssize_t>(rest.size()));
  require(lseek(file.get(), 0, SEEK_SET) == 0);
  llmb::unpacking::Unpacker unpacker(file.get(), packing,
                                     std::string(packed.substr(0, head_bytes)));
  Unpacked result;
  while (result.text.size() < kTextBytesMax) {
    const auto block = unpacker.next();
    if (!block) return result;
    if (block->empty()) {
      result.is_whole = true;
      return result;
    }
    result.text += *block;
  }
  return result;
}

// What is packed of the text, with the bytes that follow its end, three for each: where, and by
// what.
std::string damaged(std::string packed, std::string_view damage) {
  for (std::size_t i = 0; i + 2 < damage.size(); i += 3) {
    const std::size_t where = static_cast<unsigned char>(damage[i]) * std::size_t{256} +
                              static_cast<unsigned char>(damage[i + 1]);
    char& byte = packed[where % packed.size()];
    byte = static_cast<char>(byte ^ damage[i + 2]);
  }
  return packed;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const Packing packing = llmb::unpacking::kPackings[data[0] % 4U];
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
  const std::size_t cut = bytes.size() * data[1] / 256U;

  const Unpacked raw = unpacked(bytes, packing, 0);
  const Unpacked cut_raw = unpacked(bytes, packing, cut);
  require(raw.is_whole == cut_raw.is_whole);
  require(raw.text.starts_with(cut_raw.text) || cut_raw.text.starts_with(raw.text));

  const std::string text(bytes.substr(0, cut));
  const std::string packed = llmb::unpacking::packed_by(packing, text);
  const Unpacked whole = unpacked(packed, packing, packed.size() / 2);
  require(whole.is_whole && whole.text == text);
  const Unpacked other = unpacked(damaged(packed, bytes.substr(cut)), packing, 0);
  require(!other.is_whole || packing == Packing::zstd || other.text == text);
  return 0;
}
