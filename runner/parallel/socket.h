// Socket: a TCP connection between two ranks, with deadlines on everything that can wait. What it
// throws is CommunicationError.
#pragma once

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include "runner/parallel/address.h"
#include "runner/parallel/communicator.h"

namespace llmb::runner {

using Deadline = std::chrono::steady_clock::time_point;

class Socket {
 public:
  Socket() = default;
  explicit Socket(int descriptor) : descriptor_(descriptor) {}
  Socket(Socket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Socket& operator=(Socket&& other) noexcept;
  ~Socket();

  bool is_open() const { return descriptor_ >= 0; }
  int descriptor() const { return descriptor_; }

  // Waits until all of it is written or read; the error says `what` could not be done.
  void write_all(std::span<const std::byte> bytes, Deadline deadline, const std::string& what);
  void read_all(std::span<std::byte> bytes, Deadline deadline, const std::string& what);

  // Small messages go at once, and an end that is no longer there (its node lost power, its network
  // is cut) is noticed within two minutes.
  void make_prompt() const;

  // The other end's numeric address.
  std::string peer_host() const;

 private:
  int descriptor_ = -1;
};

// One try at one address, no longer than `patience`. Zero with `connected`, or why it failed.
int connect_once(const SocketAddress& address, std::chrono::milliseconds patience,
                 Socket& connected);

// There is no descriptor for a connection, or no memory for one.
class NoDescriptor : public CommunicationError {
 public:
  NoDescriptor(const std::string& text, int error)
      : CommunicationError(text), is_own_limit_(error == EMFILE) {}
  // Of this process, which others cannot give back.
  bool is_own_limit() const { return is_own_limit_; }

 private:
  bool is_own_limit_;
};

class Listener {
 public:
  // On every interface for both families, IPv4 alone where the machine has no IPv6; and on the
  // loopback one alone where `host` is a loopback address or "localhost". Port 0: any.
  Listener(const std::string& host, int port);

  int port() const { return port_; }
  int descriptor() const { return socket_.descriptor(); }
  // A closed socket where nobody came before the deadline. Throws NoDescriptor where somebody did,
  // who then still waits at the door.
  Socket accept_one(Deadline deadline);

 private:
  Socket socket_;
  int port_ = 0;
};

}  // namespace llmb::runner
