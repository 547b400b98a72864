#include "runner/parallel/thread_communicator.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "runner/parallel/thread_group.h"

namespace llmb::runner {
namespace {

class ThreadCommunicator final : public Communicator {
 public:
  ThreadCommunicator(std::shared_ptr<ThreadGroup> group, int member)
      : Communicator(group->name(), group->ranks(), member), group_(std::move(group)) {}

 private:
  void do_all_reduce(Buffer data, ReduceOp op, const CallTag& tag) override {
    const auto kind =
        op == ReduceOp::sum ? CollectiveKind::all_reduce_sum : CollectiveKind::all_reduce_max;
    group_->collective(rank(), {kind, data.as_const(), data, {}, {}, -1, &tag});
  }

  void do_all_gather(ConstBuffer mine, Buffer all, const CallTag& tag) override {
    group_->collective(rank(), {CollectiveKind::all_gather, mine, all, {}, {}, -1, &tag});
  }

  void do_reduce_scatter(ConstBuffer all, Buffer mine, const CallTag& tag) override {
    group_->collective(rank(), {CollectiveKind::reduce_scatter, all, mine, {}, {}, -1, &tag});
  }

  void do_all_to_all(ConstBuffer sent, std::span<const std::size_t> sent_counts, Buffer received,
                     std::span<const std::size_t> received_counts, const CallTag& tag) override {
    group_->collective(rank(), {CollectiveKind::all_to_all, sent, received, sent_counts,
                                received_counts, -1, &tag});
  }

  void do_broadcast(Buffer data, int root, const CallTag& tag) override {
    group_->collective(rank(),
                       {CollectiveKind::broadcast, data.as_const(), data, {}, {}, root, &tag});
  }

  void do_barrier(const CallTag& tag) override {
    const ConstBuffer nothing{nullptr, 0, ElementType::byte};
    const Buffer nowhere{nullptr, 0, ElementType::byte};
    group_->collective(rank(), {CollectiveKind::barrier, nothing, nowhere, {}, {}, -1, &tag});
  }

  void do_send(ConstBuffer data, int to, const CallTag& tag) override {
    group_->send(rank(), to, data, tag);
  }

  void do_recv(Buffer data, int from, const CallTag& tag) override {
    group_->recv(from, rank(), data, tag);
  }

  std::shared_ptr<ThreadGroup> group_;
};

}  // namespace

// Hands out groups, and tells all of them when one rank has failed. Thread-safe.
class ThreadHub : public std::enable_shared_from_this<ThreadHub> {
 public:
  ThreadHub(int size, std::chrono::milliseconds patience) : size_(size), patience_(patience) {}

  int size() const { return size_; }

  std::shared_ptr<ThreadGroup> group(const std::string& name, const std::vector<int>& ranks) {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<ThreadGroup>& group = groups_[{name, ranks}];
    if (!group) {
      group = std::make_shared<ThreadGroup>(name, ranks, patience_,
                                            [hub = weak_from_this()](const std::string& reason) {
                                              if (const auto alive = hub.lock())
                                                alive->abort(reason);
                                            });
      if (!failure_.empty()) group->fail_from_outside(failure_);
    }
    return group;
  }

  std::string failure() const {
    const std::lock_guard lock(mutex_);
    return failure_;
  }

  void abort(const std::string& reason) {
    std::vector<std::shared_ptr<ThreadGroup>> groups;
    {
      const std::lock_guard lock(mutex_);
      if (failure_.empty()) failure_ = reason;
      for (const auto& [key, group] : groups_) groups.push_back(group);
    }
    for (const auto& group : groups) group->fail_from_outside(reason);
  }

 private:
  const int size_;
  const std::chrono::milliseconds patience_;
  mutable std::mutex mutex_;
  std::map<std::pair<std::string, std::vector<int>>, std::shared_ptr<ThreadGroup>> groups_;
  std::string failure_;
};

namespace {

class ThreadWorld final : public World {
 public:
  ThreadWorld(std::shared_ptr<ThreadHub> hub, int rank) : hub_(std::move(hub)), rank_(rank) {}

  int rank() const override { return rank_; }
  int size() const override { return hub_->size(); }

  std::unique_ptr<Communicator> make_group(const std::string& name,
                                           const std::vector<int>& ranks) override {
    const auto self = std::find(ranks.begin(), ranks.end(), rank_);
    if (self == ranks.end()) {
      throw std::invalid_argument(fmt::format("rank {} is no member of its group {}", rank_, name));
    }
    return std::make_unique<ThreadCommunicator>(hub_->group(name, ranks),
                                                static_cast<int>(self - ranks.begin()));
  }

  std::function<std::string()> failure_source() const override {
    return [weak = std::weak_ptr(hub_)] {
      const auto hub = weak.lock();
      return hub ? hub->failure() : "";
    };
  }

  void abort(const std::string& reason) override {
    hub_->abort(fmt::format("rank {} failed: {}", rank_, reason));
  }

 private:
  std::shared_ptr<ThreadHub> hub_;
  int rank_;
};

}  // namespace

ThreadRanks::ThreadRanks(int size, std::chrono::milliseconds patience)
    : hub_(std::make_shared<ThreadHub>(size, patience)) {}

ThreadRanks::~ThreadRanks() = default;

int ThreadRanks::size() const {
  return hub_->size();
}

std::unique_ptr<World> ThreadRanks::world(int rank) {
  return std::make_unique<ThreadWorld>(hub_, rank);
}

void run_thread_ranks(int size, const std::function<void(World&)>& body,
                      std::chrono::milliseconds patience) {
  ThreadRanks ranks(size, patience);
  std::mutex mutex;
  std::exception_ptr cause;       // the first error that is not an echo of another
  std::exception_ptr first_echo;  // kept in case nothing else was thrown
  const auto run = [&](int rank) {
    const std::unique_ptr<World> world = ranks.world(rank);
    const auto keep = [&](std::exception_ptr& place) {
      const std::lock_guard lock(mutex);
      if (!place) place = std::current_exception();
    };
    try {
      body(*world);
    } catch (const PeerFailure& error) {
      keep(first_echo);
      // Its device may have told it before the others' host group: the first failure stays anyway.
      world->abort(error.what());
    } catch (const std::exception& error) {
      keep(cause);
      world->abort(error.what());
    } catch (...) {
      keep(cause);
      world->abort("an exception of no known type");
    }
  };
  std::vector<std::jthread> threads;
  threads.reserve(static_cast<std::size_t>(size));
  for (int rank = 0; rank < size; ++rank) threads.emplace_back(run, rank);
  threads.clear();  // joins
  if (cause) std::rethrow_exception(cause);
  if (first_echo) std::rethrow_exception(first_echo);
}

}  // namespace llmb::runner
