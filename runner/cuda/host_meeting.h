// HostMeeting: where the members of one group of the double meet, each on the thread of one of its
// streams. The host's counterpart of what NCCL's kernels do between devices.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "runner/cuda/collectives.h"

namespace llmb::runner::cuda {

enum class HostCallKind : std::uint8_t {
  all_reduce,
  all_gather,
  reduce_scatter,
  all_to_all,
  broadcast,
};
const char* name_of(HostCallKind kind);

// What one member brings to a call that all members make.
struct HostCall {
  HostCallKind kind = HostCallKind::all_reduce;
  const void* from = nullptr;
  void* to = nullptr;
  std::int64_t count = 0;
  NumberType type = NumberType::float32;
  Reduction reduction = Reduction::sum;
  int root = 0;
  std::vector<std::int64_t> sent{};  // of all_to_all
  std::vector<std::int64_t> received{};
};

// Thread-safe. Waits end after the patience with a CommunicatorFailed that names who did not come,
// or when a rank is known to be gone.
class HostMeeting {
 public:
  HostMeeting(std::string group, std::vector<int> ranks, CommunicatorOptions options);

  // Runs on a stream's thread: returns when the member's own buffers are done with.
  void call(int member, const HostCall& call);
  // A message is put down and taken: `wait_until_taken` gives the sender's end.
  std::uint64_t put_down(int from, int to, const void* data, std::size_t bytes);
  void wait_until_taken(int from, int to, std::uint64_t message);
  void take(int from, int to, void* data, std::size_t bytes);

  // Called by a member's thread as soon as a call is put on a stream: `let_run` lets that stream
  // run as far as the call. It is called once another member waits in this group.
  void announce(std::function<void()> let_run);

  // What messages call it from here on.
  void set_group(const std::string& group);

 private:
  struct Message {
    const void* data;
    std::size_t bytes;
  };
  struct Channel {
    std::deque<Message> messages;
    std::uint64_t put = 0;
    std::uint64_t taken = 0;
  };

  void meet(int member, const HostCall* call);
  bool somebody_waits() const;
  // `until` is asked under the lock, by others too.
  void wait(std::unique_lock<std::mutex>& lock, const std::string& what,
            const std::function<bool()>& until);
  [[noreturn]] void fail(std::unique_lock<std::mutex>& lock, const std::string& reason);
  std::string first_difference() const;
  std::string absent_members() const;
  void carry_out(int member);

  std::string group_;  // under mutex_
  const std::vector<int> ranks_;
  const CommunicatorOptions options_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<const HostCall*> posts_;
  std::vector<const HostCall*> agreed_;
  std::size_t arrived_ = 0;
  std::uint64_t generation_ = 0;
  std::vector<std::byte> result_;
  std::map<std::pair<int, int>, Channel> channels_;
  std::vector<std::function<void()>> announced_;
  std::list<std::function<bool()>> waits_;  // what members wait for
  std::string failure_;
};

}  // namespace llmb::runner::cuda
