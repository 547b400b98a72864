// libFuzzer target: the cursor parameter of a list. Any bytes are refused or read; what is read
// survives being written and read again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "server/api/cursor.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using llmb::api::Cursor;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto cursor = llmb::api::decode_cursor(bytes)) {
    if (llmb::api::decode_cursor(llmb::api::encode_cursor(*cursor)) != cursor) std::abort();
  }
  // A sort value comes from a path, which may hold any bytes.
  const Cursor own{"experiment", std::string(bytes), static_cast<std::int64_t>(size), "hash"};
  if (llmb::api::decode_cursor(llmb::api::encode_cursor(own)) != own) std::abort();
  return 0;
}
