// Shared memory of a block as the shim has it: every access goes through a reference that checks
// the index, whether anybody wrote the word before it is read, and whether two lanes touch it with
// no barrier between, one of them writing. What nvcc sees is in runner/kernels/shared.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "runner/simt/block_runner.h"

namespace llmb::runner::simt {

enum class Access : std::uint8_t { read, write, atomic };

// Who last wrote a word, and who read it since.
class WordHistory {
 public:
  // Throws KernelFault. `index` and `name` are for the message.
  void note(Access access, const char* name, std::int64_t index);

 private:
  struct Event {
    Clock clock;
    Access access = Access::read;
  };
  static bool is_ordered(const Event& before, const Clock& now);
  [[noreturn]] void report(const Event& before, const Clock& now, Access access, const char* name,
                           std::int64_t index) const;

  std::uint64_t block_serial_ = 0;
  bool is_written_ = false;
  Event write_;
  Event reads_[2];  // of different lanes, where two or more read
};

template <typename T>
class SharedWord {
 public:
  SharedWord(T* value, WordHistory* history, const char* name, std::int64_t index)
      : value_(value), history_(history), name_(name), index_(index) {}

  operator T() const {  // NOLINT(google-explicit-constructor): stands for the word
    history_->note(Access::read, name_, index_);
    return *value_;
  }
  SharedWord& operator=(T value) {
    history_->note(Access::write, name_, index_);
    *value_ = value;
    return *this;
  }
  SharedWord(const SharedWord&) = default;
  // Writes the word, whatever stands on the right: a word may be given to itself.
  // NOLINTNEXTLINE(bugprone-unhandled-self-assignment)
  SharedWord& operator=(const SharedWord& other) { return *this = static_cast<T>(other); }
  SharedWord& operator+=(T value) { return *this = static_cast<T>(static_cast<T>(*this) + value); }
  T atomic_add(T value) const {
    history_->note(Access::atomic, name_, index_);
    const T before = *value_;
    *value_ = static_cast<T>(before + value);
    return before;
  }

 private:
  T* value_;
  WordHistory* history_;
  const char* name_;
  std::int64_t index_;
};

// As `T name[count]` in shared memory.
template <typename T, int kCount>
class Shared {
 public:
  template <typename Index>
  SharedWord<T> operator[](Index at) {
    const auto index = static_cast<std::int64_t>(at);
    if (index < 0 || index >= kCount) {
      BlockRunner::of_this_thread().fault("index " + std::to_string(index) +
                                          " of a shared array of " + std::to_string(kCount));
    }
    return {&values_[index], &histories_[index], "of a shared array", index};
  }

 private:
  T values_[kCount];
  WordHistory histories_[kCount];
};

// The histories of the dynamic shared memory's bytes, by the first byte of a word.
WordHistory* dynamic_histories();

// `count` values of T at `offset_bytes` of the dynamic shared memory.
template <typename T>
class SharedSpan {
 public:
  SharedSpan(std::size_t offset_bytes, std::int64_t count)
      : offset_bytes_(offset_bytes), count_(count) {
    const BlockRunner& runner = BlockRunner::of_this_thread();
    const std::size_t end = offset_bytes + static_cast<std::size_t>(count) * sizeof(T);
    if (end > runner.dynamic_shared_bytes() || offset_bytes % alignof(T) != 0) {
      runner.fault("dynamic shared memory up to byte " + std::to_string(end) + " of " +
                   std::to_string(runner.dynamic_shared_bytes()));
    }
  }

  template <typename Index>
  SharedWord<T> operator[](Index at) const {
    const auto index = static_cast<std::int64_t>(at);
    BlockRunner& runner = BlockRunner::of_this_thread();
    if (index < 0 || index >= count_) {
      runner.fault("index " + std::to_string(index) + " of " + std::to_string(count_) +
                   " in dynamic shared memory");
    }
    const std::size_t byte = offset_bytes_ + static_cast<std::size_t>(index) * sizeof(T);
    return {reinterpret_cast<T*>(runner.dynamic_shared() + byte), dynamic_histories() + byte,
            "of dynamic shared memory", index};
  }

 private:
  std::size_t offset_bytes_;
  std::int64_t count_;
};

}  // namespace llmb::runner::simt
