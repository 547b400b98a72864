// libFuzzer target: packed steps, as agents send them and databases keep them. Any bytes are
// refused or read; what is read is packed the same for ever.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "storage/packed_steps.h"

namespace {

constexpr std::size_t kMemoryMax = std::size_t{16} << 20U;

std::string packed(const std::vector<llmb::parser::StepSample>& steps) {
  llmb::storage::PackWriter writer;
  llmb::storage::pack_steps(writer, steps);
  return writer.take();
}

std::vector<llmb::parser::StepSample> unpacked(std::string_view bytes) {
  llmb::storage::PackReader reader(bytes, kMemoryMax);
  return llmb::storage::unpack_steps(reader);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<llmb::parser::StepSample> steps;
  try {
    steps = unpacked({reinterpret_cast<const char*>(data), size});
  } catch (const llmb::storage::BadField&) {
    return 0;
  }
  const std::string once = packed(steps);
  if (packed(unpacked(once)) != once) std::abort();
  return 0;
}
