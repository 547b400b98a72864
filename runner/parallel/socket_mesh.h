// SocketMesh: messages between processes over one connection for every pair of ranks. One thread
// reads them all into mailboxes, so that a sender never waits for its receiver to want the
// message. When one rank fails or vanishes, every wait in the others ends.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "runner/parallel/call_signature.h"
#include "runner/parallel/socket.h"

namespace llmb::runner {

struct MeshMessage {
  CallSignature signature;  // of the sender's call
  std::vector<std::byte> body;
  std::size_t payload_offset = 0;

  std::span<const std::byte> payload() const { return std::span(body).subspan(payload_offset); }
};

// Thread-safe.
class SocketMesh {
 public:
  // `connections` by rank, as connect_ranks gives them.
  SocketMesh(int rank, std::vector<Socket> connections, std::chrono::milliseconds patience);
  // Says goodbye, and waits (no longer than the patience) until the others have said it, so that
  // nothing is lost that is under way.
  ~SocketMesh();
  SocketMesh(const SocketMesh&) = delete;
  SocketMesh& operator=(const SocketMesh&) = delete;

  int rank() const { return rank_; }
  int size() const { return static_cast<int>(peers_.size()); }
  std::chrono::milliseconds patience() const { return patience_; }

  // Messages of one channel between two ranks arrive in the order sent. To itself: allowed.
  void send(int to, const std::string& channel, const CallSignature& signature,
            std::span<const std::byte> payload);
  // Waits for the next message of the channel, so many times the patience. `wanted` is what an
  // error says was called.
  MeshMessage receive(int from, const std::string& channel, const CallSignature& wanted,
                      int patiences = 1);

  // Why every wait here ends; empty while all is well.
  std::string failure() const;
  // Fails this rank and all others. The first reason counts.
  void fail_everywhere(const std::string& reason);

 private:
  struct Peer;

  void read_all_peers();
  bool read_some(int rank, Peer& peer);
  void deliver(int rank, Peer& peer);
  void peer_is_gone(int rank, Peer& peer);
  void fail_here(const std::string& reason, bool is_own);
  void wake_reader() const;
  void throw_if_failed() const;
  std::string unheard(int from, const std::string& what, const CallSignature& wanted) const;

  const int rank_;
  const std::chrono::milliseconds patience_;
  std::vector<std::unique_ptr<Peer>> peers_;  // by rank; null for this one

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::pair<int, std::string>, std::deque<MeshMessage>> mailboxes_;
  std::string failure_;
  bool is_own_failure_ = false;

  int wake_descriptor_ = -1;
  std::atomic<bool> is_closing_ = false;
  std::thread reader_;
};

}  // namespace llmb::runner
