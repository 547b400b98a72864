// DeviceCommunicator: what one rank's device says to the other devices of one group: NCCL on GPUs,
// threads of one process in the double. Calls go on a stream and come back at once; what goes
// wrong on the way shows when the stream is synchronised, on every member, within `patience`.
// runner/parallel/communicator.h is the same idea for the host's memory, and waits.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runner/cuda/number_type.h"
#include "runner/kernels/stream.h"

namespace llmb::runner::cuda {

using kernels::Stream;

// What members of a new group have in common. One of them makes it, the others hear of it.
struct CommunicatorId {
  std::array<std::byte, 128> bytes{};
};
CommunicatorId make_communicator_id();

enum class Reduction : std::uint8_t { sum, max };

struct CommunicatorOptions {
  // A call that has not ended so long after its turn came has lost a member. Measured by the
  // watchdog, a thread of this process that looks every tenth of a second. As long as a member may
  // be slow, for one that is gone ends the wait at once: a profiler's start and stop, libraries
  // that are read from a network's disk, thousands of ranks that join.
  std::chrono::milliseconds patience{std::chrono::minutes(10)};
  // Which ranks are known to be gone, in words; empty while none is. Who waits for others to join
  // asks, and the watchdog each time that it looks, from its own thread: it ends what is under way
  // where there are some, and says so.
  std::function<std::string()> who_is_gone = {};
};

// What a communicator is for: calls that the rank's next work waits for, or messages that are under
// way beside it, which leave it the device.
enum class CommunicatorUse : std::uint8_t { collectives, messages };

// One object per (rank, group), used by one thread at a time; destroyed on the thread that works on
// the device it was made on. Every member makes the same calls in the same order. Ranks in calls
// are members: places in ranks(). Types are float32, float64, bf16, int32, int64, byte; FP8 travels
// as bytes. NCCL takes no two members on one device.
class DeviceCommunicator {
 public:
  // Gives the group's id to a member: called on each, with the id where `rank` is the first of
  // `ranks`, and with null on the others. The answer is what the first was called with.
  using ShareId = std::function<CommunicatorId(const CommunicatorId* mine)>;

  // `name` is the group's kind ("tp", "dp"), `ranks` its global ranks in order, `rank` this rank's
  // own. Waits for the other members; throws CommunicatorFailed where they do not come.
  static std::unique_ptr<DeviceCommunicator> make(const std::string& name,
                                                  const std::vector<int>& ranks, int rank,
                                                  const ShareId& share_id,
                                                  const CommunicatorOptions& options = {});
  virtual ~DeviceCommunicator() = default;
  DeviceCommunicator(const DeviceCommunicator&) = delete;
  DeviceCommunicator& operator=(const DeviceCommunicator&) = delete;

  const std::string& name() const { return name_; }
  // Another group of the same ranks talks by this one, too: "data, world" from here on, in
  // messages, for which of them called nobody tells it. Every member adds the same.
  virtual void add_name(const std::string& name);
  const std::vector<int>& ranks() const { return ranks_; }
  int size() const { return static_cast<int>(ranks_.size()); }
  int rank() const { return rank_; }  // this rank's place in ranks()
  int global_rank() const { return ranks_[static_cast<std::size_t>(rank_)]; }

  // A group inside this one. Every member of this one calls it, with the global ranks of the group
  // that it will itself be in; an empty list: in none, and null comes back. Waits.
  virtual std::unique_ptr<DeviceCommunicator> split(const std::string& name,
                                                    const std::vector<int>& ranks,
                                                    CommunicatorUse use) = 0;

  // to = the reduction of everybody's from; `to` may be `from`. In which order is the library's
  // business. NCCL rounds sums of bf16 at each hop of a ring or tree, and keeps fp32 only where a
  // switch adds (NVLS); the double adds in fp32 in the order of ranks, and rounds once: its
  // tolerances are the tighter ones.
  virtual void all_reduce(const void* from, void* to, std::int64_t count, NumberType type,
                          Reduction reduction, Stream stream) = 0;
  // to (size() count) = from of member 0, from of member 1, …; `from` may lie in its place in `to`.
  virtual void all_gather(const void* from, void* to, std::int64_t count, NumberType type,
                          Stream stream) = 0;
  // to (count) = the rank()-th of size() equal parts of the sum of everybody's from; `to` may lie
  // in its place in `from`.
  virtual void reduce_scatter(const void* from, void* to, std::int64_t count, NumberType type,
                              Stream stream) = 0;
  // Block i of `from` (sent[i] elements, one block after the other) goes to member i; block i of
  // `to` (received[i]) comes from it.
  virtual void all_to_all(const void* from, std::span<const std::int64_t> sent, void* to,
                          std::span<const std::int64_t> received, NumberType type,
                          Stream stream) = 0;
  virtual void broadcast(void* data, std::int64_t count, NumberType type, int root,
                         Stream stream) = 0;
  // A send ends when the receiver has taken it, and keeps its stream until then. So two members
  // that send to each other do so inside one CallGroup, or on a stream and communicator a
  // direction.
  virtual void send(const void* from, std::int64_t count, NumberType type, int to,
                    Stream stream) = 0;
  virtual void receive(void* to, std::int64_t count, NumberType type, int from, Stream stream) = 0;

 protected:
  DeviceCommunicator(std::string name, std::vector<int> ranks, int rank);

  // "all_gather 12 of dp [0, 2, 4, 6], rank 2", for messages.
  std::string describe(const char* call, std::uint64_t number) const;
  std::string describe_group() const;
  // Both throw std::invalid_argument.
  void check_member(int member) const;
  void check_counts(std::span<const std::int64_t> sent,
                    std::span<const std::int64_t> received) const;
  // The id by way of `share_id`: made by the first of `ranks`, heard by the others.
  static CommunicatorId shared_id(const std::vector<int>& ranks, int rank, const ShareId& share_id);

 private:
  std::string name_;
  std::vector<int> ranks_;
  int rank_;
};

// Calls of this thread between making one and end() are one call: they begin together when end() is
// called, and none waits for another. On whatever streams and communicators they are. Not nested.
class CallGroup {
 public:
  CallGroup();
  // Ends the group, if end() was not called, and swallows what that throws.
  ~CallGroup();
  CallGroup(const CallGroup&) = delete;
  CallGroup& operator=(const CallGroup&) = delete;
  void end();

 private:
  bool is_open_ = true;
};

// "NCCL 2.28.9" or "threads, the CPU's double".
std::string collectives_library();

}  // namespace llmb::runner::cuda
