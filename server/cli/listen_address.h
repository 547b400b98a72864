// Where to listen, as people write it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "parser/result.h"

namespace llmb::cli {

struct ListenAddress {
  std::string address = "127.0.0.1";
  std::uint16_t port = 8642;
  bool operator==(const ListenAddress&) const = default;
};

// "127.0.0.1:8642", "[::1]:8642", "localhost:0", "8642" (on 127.0.0.1), "0.0.0.0" (port 8642).
// Port 0: any free one.
parser::Result<ListenAddress> parse_listen_address(std::string_view text);

// "127.0.0.1:8642", "[::1]:8642".
std::string to_string(const ListenAddress& address);

}  // namespace llmb::cli
