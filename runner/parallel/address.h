// Addresses: where a host is, as files and DNS of this machine say.
#pragma once

#include <fmt/format.h>
#include <sys/socket.h>

#include <string>
#include <vector>

#include "runner/parallel/communicator.h"

namespace llmb::runner {

// Where something listens. `host` is a name or a numeric address of either family.
struct Endpoint {
  std::string host;
  int port = 0;

  std::string str() const { return fmt::format("{}:{}", host, port); }
};

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = sizeof(sockaddr_storage);

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
  int port() const;
};

// There is no address for a name.
class HostUnknown : public CommunicationError {
 public:
  HostUnknown(const std::string& text, bool may_be_known_later)
      : CommunicationError(text), may_be_known_later_(may_be_known_later) {}
  // Those who would know did not answer.
  bool may_be_known_later() const { return may_be_known_later_; }

 private:
  bool may_be_known_later_;
};

// In the order to try them. Throws HostUnknown.
std::vector<SocketAddress> addresses_of(const Endpoint& endpoint);

// Without port; of IPv4 as IPv4 writes it, also where it came to a socket of both families. Empty
// where it cannot be said.
std::string numeric_host(const SocketAddress& address);

bool is_loopback_address(const std::string& numeric_host);

}  // namespace llmb::runner
