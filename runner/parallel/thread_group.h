// ThreadGroup: the meeting point of one group's member threads. Members post what they call;
// when the last one has come, the calls are compared, and then every member does its part.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "runner/parallel/call_signature.h"
#include "runner/parallel/communicator.h"

namespace llmb::runner {

// What one member brings to a collective call; valid until it leaves the call.
struct ThreadPost {
  CollectiveKind kind = CollectiveKind::barrier;
  ConstBuffer sent{nullptr, 0, ElementType::byte};
  Buffer received{nullptr, 0, ElementType::byte};
  std::span<const std::size_t> sent_counts{};
  std::span<const std::size_t> received_counts{};
  int root = -1;
  const CallTag* tag = nullptr;
};

// Thread-safe. All waits end after `patience`, or when the group has failed.
class ThreadGroup {
 public:
  // Called once, outside the group's lock, by the member that finds the group at fault.
  using OnFailure = std::function<void(const std::string& reason)>;

  ThreadGroup(std::string name, std::vector<int> ranks, std::chrono::milliseconds patience,
              OnFailure on_failure);

  const std::string& name() const { return name_; }
  const std::vector<int>& ranks() const { return ranks_; }

  // Carries out one collective for `member`: returns when its own buffers are done with.
  void collective(int member, const ThreadPost& post);

  void send(int from, int to, ConstBuffer data, const CallTag& tag);
  void recv(int from, int to, Buffer data, const CallTag& tag);

  // Another rank failed: everyone who waits here, now or later, gets a PeerFailure.
  void fail_from_outside(const std::string& reason);

 private:
  struct Message {
    CallSignature signature;
    std::vector<std::byte> data;
  };
  using Channel = std::tuple<int, int, std::string>;  // from, to, tag name

  void meet(int member, const ThreadPost& post, bool first_time);
  void wait(std::unique_lock<std::mutex>& lock, int member, const ThreadPost& post,
            std::uint64_t generation);
  std::string first_disagreement() const;
  std::string absent_members(const ThreadPost& post, int member) const;
  std::string unheard_message(int from, int to, const CallSignature& wanted) const;
  [[noreturn]] void fail(std::unique_lock<std::mutex>& lock, const std::string& reason);
  void throw_if_failed() const;
  CallSignature signature_of(const ThreadPost& post) const;

  void share_work(int member, const ThreadPost& post);
  void reduce_slice(ReduceOp op, int member);
  void copy_for(int member, const ThreadPost& post);

  const std::string name_;
  const std::vector<int> ranks_;
  const std::chrono::milliseconds patience_;
  const OnFailure on_failure_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<const ThreadPost*> posts_;   // by member; null until it has come
  std::vector<const ThreadPost*> agreed_;  // those of the call in progress
  std::size_t arrived_ = 0;
  std::uint64_t generation_ = 0;
  std::string failure_;
  bool failed_outside_ = false;
  std::map<Channel, std::deque<Message>> mailboxes_;

  // Of the call in progress: written between two meetings, each member its own slice.
  std::vector<std::byte> reduced_;
};

}  // namespace llmb::runner
