// run_ranks: ranks as threads, each on a device of its own, with communicators between them. On the
// double there are as many devices as a test wants; on GPUs a test for more ranks than there are is
// skipped.
#pragma once

#include <gtest/gtest.h>

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "runner/cuda/collectives.h"
#include "runner/cuda/device.h"

namespace llmb::runner::testing {

// Carries a group's id from its first member to the others, by the group's name.
class IdBoard {
 public:
  cuda::DeviceCommunicator::ShareId share(const std::string& group) {
    return [this, group](const cuda::CommunicatorId* mine) {
      std::unique_lock lock(mutex_);
      if (mine) {
        ids_[group] = *mine;
        changed_.notify_all();
      }
      changed_.wait(lock, [&] { return ids_.contains(group); });
      return ids_.at(group);
    };
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, cuda::CommunicatorId> ids_;
};

inline std::vector<int> ranks_up_to(int count) {
  std::vector<int> ranks;
  for (int rank = 0; rank < count; ++rank) ranks.push_back(rank);
  return ranks;
}

// Calls body(communicator of all ranks) on `count` threads; says what each threw.
inline std::vector<std::string> run_ranks(
    int count, const std::function<void(cuda::DeviceCommunicator&)>& body,
    const cuda::CommunicatorOptions& options = {}) {
  IdBoard board;
  std::vector<std::string> errors(static_cast<std::size_t>(count));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < count; ++rank) {
    threads.emplace_back([&, rank] {
      try {
        cuda::choose_device(rank);
        const auto world = cuda::DeviceCommunicator::make("world", ranks_up_to(count), rank,
                                                          board.share("world"), options);
        body(*world);
      } catch (const std::exception& error) {
        errors[static_cast<std::size_t>(rank)] = error.what();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return errors;
}

}  // namespace llmb::runner::testing
