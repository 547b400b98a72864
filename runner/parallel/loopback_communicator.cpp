#include "runner/parallel/loopback_communicator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <utility>

#include "runner/parallel/own_copies.h"

namespace llmb::runner {
namespace {

class LoopbackCommunicator final : public OwnCopies<Communicator> {
 public:
  using OwnCopies::OwnCopies;

 private:
  void copy_bytes(void* to, const void* from, std::size_t bytes) override {
    std::memcpy(to, from, bytes);
  }
  void clear_bytes(void* to, std::size_t bytes) override { std::memset(to, 0, bytes); }

  void do_barrier(const CallTag& /*tag*/) override {}

  // To itself a message arrives as it was sent. From members that do not exist come zeros.
  void do_send(ConstBuffer data, int to, const CallTag& tag) override {
    if (to != rank()) return;
    const auto* first = static_cast<const std::byte*>(data.data);
    mailboxes_[std::string(tag.name)].emplace_back(first, first + data.bytes());
  }

  void do_recv(Buffer data, int from, const CallTag& tag) override {
    if (from != rank()) return clear_bytes(data.data, data.bytes());
    auto& mailbox = mailboxes_[std::string(tag.name)];
    if (mailbox.empty() || mailbox.front().size() != data.bytes()) {
      throw CommunicationError(describe_self() + ", " + tag.str() +
                               ": no message of this size was sent to itself");
    }
    std::copy(mailbox.front().begin(), mailbox.front().end(), static_cast<std::byte*>(data.data));
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
      throw std::invalid_argument(fmt::format("rank {} is no member of its group {}", rank_, name));
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
