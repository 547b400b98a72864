#include "runner/parallel/communicator.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace llmb::runner {

const char* name_of(ElementType type) {
  switch (type) {
    case ElementType::float32:
      return "float32";
    case ElementType::float64:
      return "float64";
    case ElementType::bfloat16:
      return "bfloat16";
    case ElementType::int32:
      return "int32";
    case ElementType::int64:
      return "int64";
    case ElementType::byte:
      return "byte";
  }
  return "unknown type";
}

const char* name_of(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::all_reduce_sum:
      return "all_reduce(sum)";
    case CollectiveKind::all_reduce_max:
      return "all_reduce(max)";
    case CollectiveKind::all_gather:
      return "all_gather";
    case CollectiveKind::reduce_scatter:
      return "reduce_scatter";
    case CollectiveKind::all_to_all:
      return "all_to_all";
    case CollectiveKind::broadcast:
      return "broadcast";
    case CollectiveKind::barrier:
      return "barrier";
    case CollectiveKind::send:
      return "send";
    case CollectiveKind::recv:
      return "recv";
  }
  return "unknown call";
}

std::size_t bytes_of(ElementType type) {
  switch (type) {
    case ElementType::float32:
    case ElementType::int32:
      return sizeof(float);
    case ElementType::bfloat16:
      return 2;
    case ElementType::float64:
    case ElementType::int64:
      return sizeof(double);
    case ElementType::byte:
      return 1;
  }
  return 0;
}

std::string CallTag::str() const {
  // The path as the compiler was given it may begin anywhere; what follows the tree's root counts.
  std::string_view path = file;
  const std::size_t root = std::min(path.rfind("/runner/"), path.rfind("/tests/"));
  if (root != std::string_view::npos) path.remove_prefix(root + 1);
  return fmt::format("{} at {}:{}", name, path, line);
}

// Adds the time between its making and its end to the totals, also when a call throws.
class Communicator::Timing {
 public:
  explicit Timing(CommunicationTotals& totals)
      : totals_(totals), begun_(std::chrono::steady_clock::now()) {}
  ~Timing() {
    totals_.time_s +=
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begun_).count();
  }
  Timing(const Timing&) = delete;
  Timing& operator=(const Timing&) = delete;

 private:
  CommunicationTotals& totals_;
  std::chrono::steady_clock::time_point begun_;
};

Communicator::Communicator(std::string name, std::vector<int> ranks, int rank)
    : name_(std::move(name)), ranks_(std::move(ranks)), rank_(rank) {
  if (rank < 0 || rank >= static_cast<int>(ranks_.size())) {
    throw std::invalid_argument(
        fmt::format("group {} of {} ranks has no member {}", name_, ranks_.size(), rank));
  }
}

std::string Communicator::describe_self() const {
  std::string text = fmt::format("rank {} (member {} of {} [",
                                 ranks_[static_cast<std::size_t>(rank_)], rank_, name_);
  constexpr std::size_t kShown = 16;
  for (std::size_t i = 0; i < std::min(ranks_.size(), kShown); ++i) {
    text += fmt::format("{}{}", i == 0 ? "" : ", ", ranks_[i]);
  }
  return text + (ranks_.size() > kShown ? ", …])" : "])");
}

void Communicator::check(bool holds, const char* what, const CallTag& tag) const {
  if (!holds) throw std::invalid_argument(describe_self() + ", " + tag.str() + ": " + what);
}

void Communicator::check_member(int member, const CallTag& tag) const {
  check(member >= 0 && member < size(), "no such member of the group", tag);
}

void Communicator::note(CallRecord record, std::size_t bytes) {
  record.sequence = totals_.calls;
  if (observer_) observer_(*this, record);
  ++totals_.calls;
  totals_.bytes_sent += bytes;
}

void Communicator::all_reduce(Buffer data, ReduceOp op, CallTag tag) {
  check(data.type != ElementType::byte, "bytes cannot be reduced", tag);
  const auto kind =
      op == ReduceOp::sum ? CollectiveKind::all_reduce_sum : CollectiveKind::all_reduce_max;
  note({kind, data.type, data.count, -1, tag, data.data, data.data}, data.bytes());
  const Timing timing(totals_);
  do_all_reduce(data, op, tag);
}

void Communicator::all_gather(ConstBuffer mine, Buffer all, CallTag tag) {
  check(mine.type == all.type, "the two buffers differ in type", tag);
  check(all.count == mine.count * ranks_.size(), "all.count is not size() * mine.count", tag);
  note({CollectiveKind::all_gather, mine.type, mine.count, -1, tag, mine.data, all.data},
       mine.bytes());
  const Timing timing(totals_);
  do_all_gather(mine, all, tag);
}

void Communicator::reduce_scatter(ConstBuffer all, Buffer mine, CallTag tag) {
  check(all.type != ElementType::byte, "bytes cannot be reduced", tag);
  check(mine.type == all.type, "the two buffers differ in type", tag);
  check(all.count == mine.count * ranks_.size(), "all.count is not size() * mine.count", tag);
  note({CollectiveKind::reduce_scatter, mine.type, mine.count, -1, tag, all.data, mine.data},
       all.bytes());
  const Timing timing(totals_);
  do_reduce_scatter(all, mine, tag);
}

void Communicator::all_to_all(ConstBuffer sent, std::span<const std::size_t> sent_counts,
                              Buffer received, std::span<const std::size_t> received_counts,
                              CallTag tag) {
  const auto sum = [](std::span<const std::size_t> counts) {
    return std::accumulate(counts.begin(), counts.end(), std::size_t{0});
  };
  check(sent.type == received.type, "the two buffers differ in type", tag);
  check(sent_counts.size() == ranks_.size() && received_counts.size() == ranks_.size(),
        "there must be one count for every member", tag);
  check(sum(sent_counts) == sent.count, "sent_counts do not add up to sent.count", tag);
  check(sum(received_counts) == received.count, "received_counts do not add up", tag);
  note({CollectiveKind::all_to_all, sent.type, sent.count, -1, tag, sent.data, received.data},
       sent.bytes());
  const Timing timing(totals_);
  do_all_to_all(sent, sent_counts, received, received_counts, tag);
}

void Communicator::broadcast(Buffer data, int root, CallTag tag) {
  check_member(root, tag);
  note({CollectiveKind::broadcast, data.type, data.count, root, tag, data.data, data.data},
       root == rank_ ? data.bytes() : 0);
  const Timing timing(totals_);
  do_broadcast(data, root, tag);
}

void Communicator::barrier(CallTag tag) {
  note({CollectiveKind::barrier, ElementType::byte, 0, -1, tag}, 0);
  const Timing timing(totals_);
  do_barrier(tag);
}

void Communicator::send(ConstBuffer data, int to, CallTag tag) {
  check_member(to, tag);
  note({CollectiveKind::send, data.type, data.count, to, tag, data.data, nullptr}, data.bytes());
  const Timing timing(totals_);
  do_send(data, to, tag);
}

void Communicator::recv(Buffer data, int from, CallTag tag) {
  check_member(from, tag);
  note({CollectiveKind::recv, data.type, data.count, from, tag, nullptr, data.data}, 0);
  const Timing timing(totals_);
  do_recv(data, from, tag);
}

void Communicator::open_exchanges(CallTag tag) {
  do_open_exchanges(tag);
}

void Communicator::begin_exchange(const std::optional<OutgoingMessage>& sent,
                                  const std::optional<IncomingMessage>& received, CallTag tag) {
  if (sent) {
    check_member(sent->to, tag);
    const ConstBuffer& data = sent->data;
    note({CollectiveKind::send, data.type, data.count, sent->to, tag, data.data, nullptr},
         data.bytes());
  }
  if (received) {
    check_member(received->from, tag);
    const Buffer& data = received->data;
    note({CollectiveKind::recv, data.type, data.count, received->from, tag, nullptr, data.data}, 0);
  }
  const Timing timing(totals_);
  do_begin_exchange(sent, received, tag);
}

void Communicator::end_exchange(CallTag tag) {
  const Timing timing(totals_);
  do_end_exchange(tag);
}

void Communicator::do_begin_exchange(const std::optional<OutgoingMessage>& sent,
                                     const std::optional<IncomingMessage>& received,
                                     const CallTag& tag) {
  if (sent) do_send(sent->data, sent->to, tag);
  expected_[std::string(tag.name)].push_back(received);
}

void Communicator::do_end_exchange(const CallTag& tag) {
  const auto channel = expected_.find(tag.name);
  check(channel != expected_.end() && !channel->second.empty(), "no exchange has begun", tag);
  const std::optional<IncomingMessage> received = channel->second.front();
  channel->second.pop_front();
  if (received) do_recv(received->data, received->from, tag);
}

std::unique_ptr<Communicator> World::make_group_of_all(const std::string& name) {
  std::vector<int> ranks(static_cast<std::size_t>(size()));
  std::iota(ranks.begin(), ranks.end(), 0);
  return make_group(name, ranks);
}

std::string broadcast_text(Communicator& group, std::string text, int root, CallTag tag) {
  std::vector<std::int64_t> size = {std::ssize(text)};
  group.broadcast(size, root, tag);
  text.resize(static_cast<std::size_t>(size.front()));
  if (!text.empty()) group.broadcast(std::as_writable_bytes(std::span(text)), root, tag);
  return text;
}

}  // namespace llmb::runner
