#include "runner/parallel/socket.h"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <thread>

#include "runner/parallel/communicator.h"
#include "runner/parallel/descriptor_limit.h"

namespace llmb::runner {
namespace {

using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

Addresses resolve(const Endpoint& endpoint, int flags) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags;
  addrinfo* found = nullptr;
  const int error =
      getaddrinfo(endpoint.host.c_str(), std::to_string(endpoint.port).c_str(), &hints, &found);
  if (error != 0) {
    throw CommunicationError("the address of " + endpoint.str() +
                             " is not known: " + gai_strerror(error));
  }
  return {found, &freeaddrinfo};
}

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

void send_at_once(int descriptor) {
  const int on = 1;
  (void)setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

// One try at one address. Zero, or why it failed.
int try_to_connect(const addrinfo& address, Deadline deadline, Socket& connected) {
  Socket socket(::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.is_open()) return errno;
  int error = connect(socket.descriptor(), address.ai_addr, address.ai_addrlen) == 0 ? 0 : errno;
  if (error == EINPROGRESS) {
    if (!wait_for(socket.descriptor(), POLLOUT, deadline)) return ETIMEDOUT;
    socklen_t size = sizeof error;
    if (getsockopt(socket.descriptor(), SOL_SOCKET, SO_ERROR, &error, &size) != 0) error = errno;
  }
  if (error != 0) return error;
  send_at_once(socket.descriptor());
  connected = std::move(socket);
  return 0;
}

std::string numeric_host(const sockaddr_storage& address, socklen_t size) {
  char host[NI_MAXHOST];
  if (getnameinfo(reinterpret_cast<const sockaddr*>(&address), size, host, sizeof host, nullptr, 0,
                  NI_NUMERICHOST) != 0) {
    return "";
  }
  return host;
}

}  // namespace

bool is_known_host(const std::string& host) {
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), nullptr, nullptr, &found) != 0) return false;
  freeaddrinfo(found);
  return true;
}

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

std::string Socket::peer_host() const {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (getpeername(descriptor_, reinterpret_cast<sockaddr*>(&address), &size) != 0) return "";
  return numeric_host(address, size);
}

Socket connect_to(const Endpoint& endpoint, Deadline deadline) {
  constexpr std::chrono::milliseconds kBetweenTries{50};
  std::string reason = "no address";
  while (true) {
    const Addresses addresses = resolve(endpoint, 0);
    for (const addrinfo* address = addresses.get(); address != nullptr;
         address = address->ai_next) {
      Socket connected;
      const int error = try_to_connect(*address, deadline, connected);
      if (error == 0) return connected;
      reason = error_text(error);
      if (error == EMFILE) {  // what the system lacks others may give back
        throw CommunicationError("could not connect to " + endpoint.str() + ": " + reason);
      }
    }
    if (std::chrono::steady_clock::now() + kBetweenTries >= deadline) {
      throw CommunicationError("could not connect to " + endpoint.str() + ": " + reason);
    }
    std::this_thread::sleep_for(kBetweenTries);  // until somebody listens there
  }
}

bool is_loopback_address(const std::string& numeric_host) {
  return numeric_host == "::1" || numeric_host.rfind("127.", 0) == 0 ||
         numeric_host.rfind("::ffff:127.", 0) == 0;
}

Listener::Listener(const std::string& host, int port) {
  const Addresses named = resolve({host, port}, 0);
  sockaddr_storage address{};
  std::memcpy(&address, named->ai_addr, named->ai_addrlen);
  const socklen_t size = named->ai_addrlen;
  // A host's own name may lead to a loopback address on that host only, so a name does not count.
  if (host != "localhost" && !is_loopback_address(host)) {
    if (address.ss_family == AF_INET) {
      reinterpret_cast<sockaddr_in*>(&address)->sin_addr.s_addr = htonl(INADDR_ANY);
    } else {
      reinterpret_cast<sockaddr_in6*>(&address)->sin6_addr = in6addr_any;
    }
  }
  socket_ = Socket(::socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int on = 1;
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  if (!socket_.is_open() ||
      setsockopt(socket_.descriptor(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
      bind(socket_.descriptor(), generic, size) != 0 || listen(socket_.descriptor(), 1024) != 0) {
    throw CommunicationError(
        fmt::format("could not listen at port {} for {}: {}", port, host, error_text(errno)));
  }
  sockaddr_storage bound{};
  socklen_t bound_size = sizeof bound;
  getsockname(socket_.descriptor(), reinterpret_cast<sockaddr*>(&bound), &bound_size);
  port_ = ntohs(bound.ss_family == AF_INET ? reinterpret_cast<sockaddr_in*>(&bound)->sin_port
                                           : reinterpret_cast<sockaddr_in6*>(&bound)->sin6_port);
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
    send_at_once(accepted.descriptor());
    return accepted;
  }
  return {};
}

}  // namespace llmb::runner
