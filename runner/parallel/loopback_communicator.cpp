#include "runner/parallel/loopback_communicator.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <utility>

namespace llmb::runner {
namespace {

// Fills `to` with `from` from its beginning, again and again; zeros where there is nothing.
void fill_with(void* to, std::size_t to_bytes, const void* from, std::size_t from_bytes) {
  auto* out = static_cast<std::byte*>(to);
  if (from_bytes == 0) {
    std::fill_n(out, to_bytes, std::byte{0});
    return;
  }
  for (std::size_t at = 0; at < to_bytes; at += from_bytes) {
    std::memmove(out + at, from, std::min(from_bytes, to_bytes - at));
  }
}

class LoopbackCommunicator final : public Communicator {
 public:
  using Communicator::Communicator;

 private:
  std::size_t self() const { return static_cast<std::size_t>(rank()); }

  void do_all_reduce(Buffer /*data*/, ReduceOp /*op*/, const CallTag& /*tag*/) override {}

  void do_all_gather(ConstBuffer mine, Buffer all, const CallTag& /*tag*/) override {
    fill_with(all.data, all.bytes(), mine.data, mine.bytes());
  }

  void do_reduce_scatter(ConstBuffer all, Buffer mine, const CallTag& /*tag*/) override {
    const auto* part = static_cast<const std::byte*>(all.data) + self() * mine.bytes();
    fill_with(mine.data, mine.bytes(), part, mine.bytes());
  }

  void do_all_to_all(ConstBuffer sent, std::span<const std::size_t> sent_counts, Buffer received,
                     std::span<const std::size_t> received_counts,
                     const CallTag& /*tag*/) override {
    const std::size_t width = bytes_of(sent.type);
    const auto* from = static_cast<const std::byte*>(sent.data);
    auto* to = static_cast<std::byte*>(received.data);
    for (std::size_t i = 0; i < sent_counts.size(); ++i) {
      fill_with(to, received_counts[i] * width, from, sent_counts[i] * width);
      from += sent_counts[i] * width;
      to += received_counts[i] * width;
    }
  }

  void do_broadcast(Buffer /*data*/, int /*root*/, const CallTag& /*tag*/) override {}
  void do_barrier(const CallTag& /*tag*/) override {}

  // To itself a message arrives as it was sent. From members that do not exist come zeros.
  void do_send(ConstBuffer data, int to, const CallTag& tag) override {
    if (to != rank()) return;
    const auto* first = static_cast<const std::byte*>(data.data);
    mailboxes_[std::string(tag.name)].emplace_back(first, first + data.bytes());
  }

  void do_recv(Buffer data, int from, const CallTag& tag) override {
    if (from != rank()) return fill_with(data.data, data.bytes(), nullptr, 0);
    auto& mailbox = mailboxes_[std::string(tag.name)];
    if (mailbox.empty() || mailbox.front().size() != data.bytes()) {
      throw CommunicationError(describe_self() + ", " + tag.str() +
                               ": no message of this size was sent to itself");
    }
    fill_with(data.data, data.bytes(), mailbox.front().data(), data.bytes());
    mailbox.pop_front();
  }

  std::map<std::string, std::deque<std::vector<std::byte>>> mailboxes_;
};

class LoopbackWorld final : public World {
 public:
  LoopbackWorld(int size, int rank) : size_(size), rank_(rank) {}

  int rank() const override { return rank_; }
  int size() const override { return size_; }

  std::unique_ptr<Communicator> make_group(const std::string& name,
                                           const std::vector<int>& ranks) override {
    const auto self = std::find(ranks.begin(), ranks.end(), rank_);
    if (self == ranks.end()) {
      throw std::invalid_argument("rank " + std::to_string(rank_) + " is no member of its group " +
                                  name);
    }
    return std::make_unique<LoopbackCommunicator>(name, ranks,
                                                  static_cast<int>(self - ranks.begin()));
  }

  void abort(const std::string& /*reason*/) override {}

 private:
  int size_;
  int rank_;
};

}  // namespace

std::unique_ptr<World> make_loopback_world(int size, int rank) {
  return std::make_unique<LoopbackWorld>(size, rank);
}

}  // namespace llmb::runner
