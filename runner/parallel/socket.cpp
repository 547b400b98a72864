#include "runner/parallel/socket.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "runner/parallel/communicator.h"
#include "runner/parallel/descriptor_limit.h"

namespace llmb::runner {
namespace {

std::string error_text(int code) {
  return std::strerror(code);
}

int milliseconds_until(Deadline deadline) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
      deadline - std::chrono::steady_clock::now());
  return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 1'000'000));
}

// False where the deadline passed first.
bool wait_for(int descriptor, short events, Deadline deadline) {
  pollfd waiting{descriptor, events, 0};
  int ready = 0;
  do {
    ready = poll(&waiting, 1, milliseconds_until(deadline));
  } while (ready < 0 && errno == EINTR);
  return ready > 0;
}

void set_option(int descriptor, int level, int name, int value) {
  (void)setsockopt(descriptor, level, name, &value, sizeof value);  // serves without, too
}

// A socket that listens at `address`; closed where that fails, with errno.
Socket listening_at(const SocketAddress& address) {
  Socket socket(::socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.is_open()) return {};
  const int on = 1;
  const int off = 0;
  const bool is_set =
      setsockopt(socket.descriptor(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
      (address.storage.ss_family == AF_INET ||
       setsockopt(socket.descriptor(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off) == 0);
  if (!is_set || bind(socket.descriptor(), address.get(), address.size) != 0 ||
      listen(socket.descriptor(), 1024) != 0) {
    const int error = errno;
    socket = {};
    errno = error;
  }
  return socket;
}

SocketAddress any_address_of_both_families(int port) {
  SocketAddress address;
  auto* in6 = reinterpret_cast<sockaddr_in6*>(address.get());
  in6->sin6_family = AF_INET6;
  in6->sin6_addr = in6addr_any;
  in6->sin6_port = htons(static_cast<std::uint16_t>(port));
  address.size = sizeof *in6;
  return address;
}

SocketAddress any_address_of_ipv4(int port) {
  SocketAddress address;
  auto* in = reinterpret_cast<sockaddr_in*>(address.get());
  in->sin_family = AF_INET;
  in->sin_addr.s_addr = htonl(INADDR_ANY);
  in->sin_port = htons(static_cast<std::uint16_t>(port));
  address.size = sizeof *in;
  return address;
}

}  // namespace

Socket& Socket::operator=(Socket&& other) noexcept {
  if (this != &other) {
    if (descriptor_ >= 0) close(descriptor_);
    descriptor_ = std::exchange(other.descriptor_, -1);
  }
  return *this;
}

Socket::~Socket() {
  if (descriptor_ >= 0) close(descriptor_);
}

void Socket::write_all(std::span<const std::byte> bytes, Deadline deadline,
                       const std::string& what) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(sent));
      continue;
    }
    if (errno == EINTR) continue;
    if (errno != EAGAIN && errno != EWOULDBLOCK) {
      throw CommunicationError("could not " + what + ": " + error_text(errno));
    }
    if (!wait_for(descriptor_, POLLOUT, deadline)) {
      throw CommunicationError("could not " + what + " in time");
    }
  }
}

void Socket::read_all(std::span<std::byte> bytes, Deadline deadline, const std::string& what) {
  while (!bytes.empty()) {
    const ssize_t got = ::recv(descriptor_, bytes.data(), bytes.size(), 0);
    if (got > 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(got));
      continue;
    }
    if (got == 0) throw CommunicationError("could not " + what + ": the connection was closed");
    if (errno == EINTR) continue;
    if (errno != EAGAIN && errno != EWOULDBLOCK) {
      throw CommunicationError("could not " + what + ": " + error_text(errno));
    }
    if (!wait_for(descriptor_, POLLIN, deadline)) {
      throw CommunicationError("could not " + what + " in time");
    }
  }
}

void Socket::make_prompt() const {
  set_option(descriptor_, IPPROTO_TCP, TCP_NODELAY, 1);
  // Of an end that is silent, as all are while they compute.
  set_option(descriptor_, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(descriptor_, IPPROTO_TCP, TCP_KEEPIDLE, 30);
  set_option(descriptor_, IPPROTO_TCP, TCP_KEEPINTVL, 10);
  set_option(descriptor_, IPPROTO_TCP, TCP_KEEPCNT, 9);
  // Of one that has not confirmed what it was sent, whom the system would try for 15 minutes; long
  // enough for a switch to begin anew.
  set_option(descriptor_, IPPROTO_TCP, TCP_USER_TIMEOUT, 120'000);
}

std::string Socket::peer_host() const {
  SocketAddress address;
  if (getpeername(descriptor_, address.get(), &address.size) != 0) return "";
  return numeric_host(address);
}

int connect_once(const SocketAddress& address, std::chrono::milliseconds patience,
                 Socket& connected) {
  Socket socket(::socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.is_open()) return errno;
  int error = connect(socket.descriptor(), address.get(), address.size) == 0 ? 0 : errno;
  if (error == EINPROGRESS) {
    const Deadline deadline = std::chrono::steady_clock::now() + patience;
    if (!wait_for(socket.descriptor(), POLLOUT, deadline)) return ETIMEDOUT;
    socklen_t size = sizeof error;
    if (getsockopt(socket.descriptor(), SOL_SOCKET, SO_ERROR, &error, &size) != 0) error = errno;
  }
  if (error != 0) return error;
  socket.make_prompt();
  connected = std::move(socket);
  return 0;
}

Listener::Listener(const std::string& host, int port) {
  // A host's own name may lead to a loopback address on that host only, and to one family where
  // others know it by the other: a name does not count.
  if (host == "localhost" || is_loopback_address(host)) {
    socket_ = listening_at(addresses_of({host, port}).front());
  } else {
    socket_ = listening_at(any_address_of_both_families(port));
    if (!socket_.is_open() && errno != EADDRINUSE) {
      socket_ = listening_at(any_address_of_ipv4(port));
    }
  }
  if (!socket_.is_open()) {
    throw CommunicationError(
        fmt::format("could not listen at port {} for {}: {}", port, host, error_text(errno)));
  }
  SocketAddress bound;
  getsockname(socket_.descriptor(), bound.get(), &bound.size);
  port_ = bound.port();
}

Socket Listener::accept_one(Deadline deadline) {
  while (wait_for(socket_.descriptor(), POLLIN, deadline)) {
    Socket accepted(accept4(socket_.descriptor(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!accepted.is_open()) {
      if (!is_lack_of_descriptors(errno)) continue;  // it went away again
      const int error = errno;
      throw NoDescriptor(
          fmt::format("could not take a connection at port {}: {}", port_, error_text(error)),
          error);
    }
    accepted.make_prompt();
    return accepted;
  }
  return {};
}

}  // namespace llmb::runner
