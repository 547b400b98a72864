// What ingest's threads do where there is no memory left: they wait and try again, or leave out
// this one tick, because a process that ends would lose more than a moment.
#pragma once

#include <chrono>
#include <new>
#include <thread>

namespace llmb::ingest {

inline constexpr std::chrono::milliseconds kUntilMemoryIsFree{100};

// Calls `task` until it does not run out of memory: it has to leave all as it was where it does.
template <typename Task>
auto once_there_is_memory(Task task) {
  while (true) {
    try {
      return task();
    } catch (const std::bad_alloc&) {
      std::this_thread::sleep_for(kUntilMemoryIsFree);
    }
  }
}

// False where `task` ran out of memory: what it left undone is for a later tick.
template <typename Task>
bool had_memory_for(Task task) {
  try {
    task();
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

}  // namespace llmb::ingest
