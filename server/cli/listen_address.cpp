#include "server/cli/listen_address.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "parser/foundation/parse_number.h"

namespace llmb::cli {
namespace {

tl::unexpected<parser::Error> refused(std::string_view text) {
  return parser::fail("'" + std::string(text) +
                      "' is not an address to listen on: write ADDRESS:PORT, such as "
                      "127.0.0.1:8642 or [::1]:8642, with a PORT from 0 (any free one) to 65535");
}

}  // namespace

parser::Result<ListenAddress> parse_listen_address(std::string_view text) {
  ListenAddress result;
  std::string_view port;
  bool has_port = false;
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos || end == 1) return refused(text);
    result.address = text.substr(1, end - 1);
    const std::string_view rest = text.substr(end + 1);
    has_port = !rest.empty();
    if (has_port && rest.front() != ':') return refused(text);
    if (has_port) port = rest.substr(1);
  } else if (const auto colons = std::count(text.begin(), text.end(), ':'); colons == 1) {
    const std::size_t colon = text.find(':');
    if (colon == 0) return refused(text);
    result.address = text.substr(0, colon);
    port = text.substr(colon + 1);
    has_port = true;
  } else if (colons == 0 && parser::parse_number<std::uint16_t>(text)) {
    port = text;
    has_port = true;
  } else if (!text.empty()) {
    result.address = text;  // without a port; IPv6 when there are several colons
  } else {
    return refused(text);
  }
  if (has_port) {
    const auto number = parser::parse_number<std::uint16_t>(port);
    if (!number) return refused(text);
    result.port = *number;
  }
  return result;
}

std::string to_string(const ListenAddress& address) {
  const bool is_v6 = address.address.find(':') != std::string::npos;
  return is_v6 ? fmt::format("[{}]:{}", address.address, address.port)
               : fmt::format("{}:{}", address.address, address.port);
}

}  // namespace llmb::cli
