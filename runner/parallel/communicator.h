// Communicator: what one rank says to the other ranks of one group. The interface behind which
// threads of one process, processes on several hosts and a single rank look the same, and whose
// reductions always add in the order of the group's ranks, so that results repeat to the bit.
// Every call carries a tag and the place it was made from: ranks that disagree about which call
// comes next all fail at once, with both places named, instead of waiting for ever.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace llmb::runner {

enum class ElementType : std::uint8_t { float32, float64, bfloat16, int32, int64, byte };
enum class ReduceOp : std::uint8_t { sum, max };
enum class CollectiveKind : std::uint8_t {
  all_reduce_sum,
  all_reduce_max,
  all_gather,
  reduce_scatter,
  all_to_all,
  broadcast,
  barrier,
  send,
  recv,
};

const char* name_of(ElementType type);
const char* name_of(CollectiveKind kind);
std::size_t bytes_of(ElementType type);

// What a call is for, and where it was made. Made from a literal where a call is written:
// `comm.all_reduce(sums, ReduceOp::sum, "tp.attention_out")`; it records the caller's line.
// The name must outlive the call, and for send and recv it is also the channel.
struct CallTag {
  // NOLINTNEXTLINE(google-explicit-constructor): the conversion is what records the place
  CallTag(const char* tag_name, const char* at_file = __builtin_FILE(),
          int at_line = __builtin_LINE())
      : name(tag_name), file(at_file), line(at_line) {}

  std::string str() const;  // "tp.attention_out at runner/cpu/stage.cpp:120"

  std::string_view name;
  // Not std::source_location, which clang 14 lacks the means for.
  const char* file;
  int line;
};

// A call failed: ranks disagreed, a rank never came, or another rank broke first.
class CommunicationError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// This rank is well; another one failed, and its own error is the one to show.
class PeerFailure : public CommunicationError {
 public:
  using CommunicationError::CommunicationError;
};

// Which element a type is; specialised for a type of one's own that has an element's bits.
template <typename T>
struct ElementTraits;
template <>
struct ElementTraits<float> {
  static constexpr ElementType kType = ElementType::float32;
};
template <>
struct ElementTraits<double> {
  static constexpr ElementType kType = ElementType::float64;
};
template <>
struct ElementTraits<std::int32_t> {
  static constexpr ElementType kType = ElementType::int32;
};
template <>
struct ElementTraits<std::int64_t> {
  static constexpr ElementType kType = ElementType::int64;
};
template <>
struct ElementTraits<std::byte> {
  static constexpr ElementType kType = ElementType::byte;
};

template <typename T>
concept CommunicatedElement = requires {
  ElementTraits<T>::kType;
};

template <CommunicatedElement T>
constexpr ElementType element_type_of() {
  return ElementTraits<T>::kType;
}

// A view on elements to read; made from any vector or span of a communicated element.
struct ConstBuffer {
  template <std::ranges::contiguous_range R>
  requires CommunicatedElement<std::remove_cv_t<std::ranges::range_value_t<R>>>
  // NOLINTNEXTLINE(google-explicit-constructor): vectors and spans are passed as they are
  ConstBuffer(const R& range)
      : data(std::ranges::data(range)),
        count(std::ranges::size(range)),
        type(element_type_of<std::remove_cv_t<std::ranges::range_value_t<R>>>()) {}
  ConstBuffer(const void* first, std::size_t elements, ElementType element_type)
      : data(first), count(elements), type(element_type) {}

  std::size_t bytes() const { return count * bytes_of(type); }

  const void* data;
  std::size_t count;
  ElementType type;
};

// A view on elements to write.
struct Buffer {
  template <std::ranges::contiguous_range R>
  requires CommunicatedElement<std::ranges::range_value_t<R>> &&
      (!std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<R>>>)
      // NOLINTNEXTLINE(google-explicit-constructor,bugprone-forwarding-reference-overload)
      Buffer(R&& range)  // vectors and spans are passed as they are; a Buffer is no range
      : data(std::ranges::data(range)),
        count(std::ranges::size(range)),
        type(element_type_of<std::ranges::range_value_t<R>>()) {}
  Buffer(void* first, std::size_t elements, ElementType element_type)
      : data(first), count(elements), type(element_type) {}

  std::size_t bytes() const { return count * bytes_of(type); }
  ConstBuffer as_const() const { return {data, count, type}; }

  void* data;
  std::size_t count;
  ElementType type;
};

// Messages to and from one member, a place in the group.
struct OutgoingMessage {
  ConstBuffer data;
  int to;
};
struct IncomingMessage {
  Buffer data;
  int from;
};

// One call as it was made, for traces: given to the observer before the call begins.
struct CallRecord {
  CollectiveKind kind;
  ElementType type;
  std::size_t count = 0;  // elements of the buffer that is sent (recv, barrier: received, 0)
  int peer = -1;          // index in the group of root or partner; -1 where there is none
  CallTag tag;
  const void* send_buffer = nullptr;
  void* receive_buffer = nullptr;
  std::uint64_t sequence = 0;  // calls made on this communicator before this one
};

// How long a rank of a run waits for the others in a call: some have more layers, all may share a
// few cores, and one may measure, or write its part of a checkpoint, for all.
inline constexpr std::chrono::minutes kRankPatience{30};

// What a communicator did since it was made or reset.
struct CommunicationTotals {
  std::uint64_t calls = 0;
  std::uint64_t bytes_sent = 0;  // of this rank's own buffers, not of what an algorithm moves
  double time_s = 0;             // inside calls: moving, reducing and waiting for others
};

// One object per (rank, group); used by one thread at a time. Calls on the host's memory are done
// when they come back; a group of a device's memory puts them on its stream, in whose order buffers
// are read and written, and what goes wrong there may show at a later call. Sizes and indices are
// the group's: rank() is this rank's place in ranks(). Every member makes the same collective calls
// in the same order; buffers of one call do not overlap. All calls throw CommunicationError
// (PeerFailure where another rank failed), after which the communicator is of no more use, and
// std::invalid_argument where a call's own arguments contradict each other.
class Communicator {
 public:
  using Observer = std::function<void(const Communicator&, const CallRecord&)>;

  // `name` is the group's kind ("tp", "dp"); `ranks` its global ranks in order.
  Communicator(std::string name, std::vector<int> ranks, int rank);
  virtual ~Communicator() = default;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  const std::string& name() const { return name_; }
  const std::vector<int>& ranks() const { return ranks_; }
  int size() const { return static_cast<int>(ranks_.size()); }
  int rank() const { return rank_; }
  int global_rank() const { return ranks_[static_cast<std::size_t>(rank_)]; }

  // In place, element by element, over all members in the order of ranks().
  void all_reduce(Buffer data, ReduceOp op, CallTag tag);

  // all = mine of member 0, mine of member 1, …; all.count = size() * mine.count. `mine` may lie in
  // its place in `all`.
  void all_gather(ConstBuffer mine, Buffer all, CallTag tag);

  // mine = the rank()-th of size() equal parts of the sum of everybody's `all`, in which it may lie
  // in its place.
  void reduce_scatter(ConstBuffer all, Buffer mine, CallTag tag);

  // Block i of `sent` (sent_counts[i] elements) goes to member i, and block i of `received`
  // (received_counts[i] elements) comes from member i. What i sends to j must be what j expects.
  void all_to_all(ConstBuffer sent, std::span<const std::size_t> sent_counts, Buffer received,
                  std::span<const std::size_t> received_counts, CallTag tag);

  // Every member's `data` becomes that of `root`.
  void broadcast(Buffer data, int root, CallTag tag);

  // Returns once every member has come.
  void barrier(CallTag tag);

  // Buffered: returns once `data` may be reused, and does not wait for the receiver. Messages
  // of one tag name from one member to another arrive in the order in which they were sent.
  void send(ConstBuffer data, int to, CallTag tag);
  void recv(Buffer data, int from, CallTag tag);

  // Messages that run beside what the rank does between their beginning and their end. A tag's name
  // is a channel; every member opens the same ones in the same order.
  void open_exchanges(CallTag tag);
  // Sends and receives together; either may be missing. Until its end the exchange may still read
  // what is sent, and nobody reads what is received. A message may have to wait for its receiver
  // to begin an exchange with it, so stages follow what schedule/rendezvous.h proves.
  void begin_exchange(const std::optional<OutgoingMessage>& sent,
                      const std::optional<IncomingMessage>& received, CallTag tag);
  // Of the oldest exchange of the channel that has not ended.
  void end_exchange(CallTag tag);

  void set_observer(Observer observer) { observer_ = std::move(observer); }
  const CommunicationTotals& totals() const { return totals_; }
  // Calls that were made again without this object, as a part of something larger.
  void count_again(const CommunicationTotals& calls) {
    totals_.calls += calls.calls;
    totals_.bytes_sent += calls.bytes_sent;
  }
  // Calls that were asked for and are not made: what they are a part of is made later, if at all.
  void count_less(const CommunicationTotals& calls) {
    totals_.calls -= calls.calls;
    totals_.bytes_sent -= calls.bytes_sent;
  }

 protected:
  // What an implementation provides; arguments are checked, and size() may be 1.
  virtual void do_all_reduce(Buffer data, ReduceOp op, const CallTag& tag) = 0;
  virtual void do_all_gather(ConstBuffer mine, Buffer all, const CallTag& tag) = 0;
  virtual void do_reduce_scatter(ConstBuffer all, Buffer mine, const CallTag& tag) = 0;
  virtual void do_all_to_all(ConstBuffer sent, std::span<const std::size_t> sent_counts,
                             Buffer received, std::span<const std::size_t> received_counts,
                             const CallTag& tag) = 0;
  virtual void do_broadcast(Buffer data, int root, const CallTag& tag) = 0;
  virtual void do_barrier(const CallTag& tag) = 0;
  virtual void do_send(ConstBuffer data, int to, const CallTag& tag) = 0;
  virtual void do_recv(Buffer data, int from, const CallTag& tag) = 0;
  // As they are here: send() at the beginning, recv() at the end.
  virtual void do_open_exchanges(const CallTag& /*tag*/) {}
  virtual void do_begin_exchange(const std::optional<OutgoingMessage>& sent,
                                 const std::optional<IncomingMessage>& received,
                                 const CallTag& tag);
  virtual void do_end_exchange(const CallTag& tag);

  // "rank 3 (member 1 of tp [2, 3])", for messages.
  std::string describe_self() const;

 private:
  class Timing;

  void check_member(int member, const CallTag& tag) const;
  void check(bool holds, const char* what, const CallTag& tag) const;
  void note(CallRecord record, std::size_t bytes);

  std::string name_;
  std::vector<int> ranks_;
  int rank_;
  Observer observer_;
  CommunicationTotals totals_;
  // Of the exchanges that have not ended, by channel.
  std::map<std::string, std::deque<std::optional<IncomingMessage>>, std::less<>> expected_;
};

// What member `root` has to say, on every member.
std::string broadcast_text(Communicator& group, std::string text, int root, CallTag tag);

// All ranks of a run as one of them sees them: hands out communicators. Every member of a group
// makes the group's communicator with the same name and the same ranks, once.
class World {
 public:
  virtual ~World() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;

  // `ranks` must contain rank(). Waits for the other members where their devices have to join.
  virtual std::unique_ptr<Communicator> make_group(const std::string& name,
                                                   const std::vector<int>& ranks) = 0;

  // Of all ranks, for what the host says: barriers, losses, checkpoints. Null where the groups'
  // buffers are on the host anyway, so that any of them serves.
  virtual std::unique_ptr<Communicator> make_host_group() { return nullptr; }

  // Says which failure the ranks know of, and nothing while there is none: for those who wait
  // elsewhere than in a call. May be asked by any thread, and when the world has gone; null where
  // there are no other ranks.
  virtual std::function<std::string()> failure_source() const { return nullptr; }

  // The group of all ranks.
  std::unique_ptr<Communicator> make_group_of_all(const std::string& name);

  // This rank broke for `reason`: wakes every other rank with a PeerFailure that says so.
  virtual void abort(const std::string& reason) = 0;
};

}  // namespace llmb::runner
