#include "runner/parallel/address.h"

#include <netdb.h>
#include <netinet/in.h>

#include <array>
#include <cstring>
#include <memory>
#include <string_view>

namespace llmb::runner {
namespace {

constexpr std::string_view kMappedPrefix = "::ffff:";  // of IPv4 in IPv6

}  // namespace

int SocketAddress::port() const {
  return ntohs(storage.ss_family == AF_INET
                   ? reinterpret_cast<const sockaddr_in*>(&storage)->sin_port
                   : reinterpret_cast<const sockaddr_in6*>(&storage)->sin6_port);
}

std::vector<SocketAddress> addresses_of(const Endpoint& endpoint) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error =
      getaddrinfo(endpoint.host.c_str(), std::to_string(endpoint.port).c_str(), &hints, &found);
  if (error != 0) {
    throw HostUnknown(
        "the address of " + endpoint.str() + " is not known: " + gai_strerror(error),
        error == EAI_AGAIN || error == EAI_FAIL || error == EAI_MEMORY || error == EAI_SYSTEM);
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(found, &freeaddrinfo);
  std::vector<SocketAddress> addresses;
  for (const addrinfo* next = found; next != nullptr; next = next->ai_next) {
    SocketAddress& address = addresses.emplace_back();
    std::memcpy(&address.storage, next->ai_addr, next->ai_addrlen);
    address.size = next->ai_addrlen;
  }
  return addresses;
}

std::string numeric_host(const SocketAddress& address) {
  std::array<char, NI_MAXHOST> host{};
  if (getnameinfo(address.get(), address.size, host.data(), host.size(), nullptr, 0,
                  NI_NUMERICHOST) != 0) {
    return "";
  }
  std::string text(host.data());
  const bool is_mapped = text.starts_with(kMappedPrefix) && text.find('.') != std::string::npos;
  return is_mapped ? text.substr(kMappedPrefix.size()) : text;
}

bool is_loopback_address(const std::string& numeric_host) {
  return numeric_host == "::1" || numeric_host.starts_with("127.");
}

}  // namespace llmb::runner
