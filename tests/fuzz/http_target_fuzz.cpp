// libFuzzer target: a request line's target and a Host header. What is accepted is plain, and says
// the same when it is encoded again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "server/http/target.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

std::string encoded(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string result;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '/') {
      result += c;
    } else {
      result += {'%', kDigits[byte >> 4U], kDigits[byte & 15U]};
    }
  }
  return result;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace llmb::http;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  Request request;
  if (read_target(bytes, request).empty()) {
    require(request.path.starts_with('/') && is_valid_utf8(request.path));
    require((request.path + '/').find("/./") == std::string::npos);
    require((request.path + '/').find("/../") == std::string::npos);
    require(request.path.find('\\') == std::string::npos);
    for (const auto& [name, value] : request.query) {
      require(is_valid_utf8(name) && is_valid_utf8(value));
    }
    Request again;
    require(read_target(encoded(request.path), again).empty());
    require(again.path == request.path);
  }
  // Only these two names may be answered to, in whatever case and with whatever port.
  if (host_is_allowed(bytes, {"bench.example.org"})) {
    require(!bytes.empty() && bytes.find_first_of("/\\@ \t\r\n") == std::string_view::npos);
  }
  return 0;
}
