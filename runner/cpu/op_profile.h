// Which operations a thread spent its time in, while a profile is taken: what a run on the CPU has
// where a GPU's has Nsight Systems. Each thread has a profile of its own.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace llmb::runner::cpu {

// What an operation does, by its operands: matrix products and attention count FLOPs, the others
// what they read and write. Where nothing is counted, nothing is said of the speed.
struct OpWork {
  double flops = 0;
  double bytes = 0;
};

struct OpUse {
  std::int64_t calls = 0;
  double time_s = 0;
  OpWork work{};
  // It ran on a stream of its own, beside the others: its time is no part of their sum.
  bool is_beside = false;
};
using OpTable = std::map<std::string, OpUse, std::less<>>;

// Of the calling thread's operations. Begin forgets what was before.
void begin_op_profile();
OpTable end_op_profile();

// An operation makes one for as long as it takes. An operation that another one calls is part of
// it. Costs a look at a flag where no profile is taken. `name` outlives it.
class OpTimer {
 public:
  explicit OpTimer(std::string_view name);
  ~OpTimer();
  OpTimer(const OpTimer&) = delete;
  OpTimer& operator=(const OpTimer&) = delete;

 private:
  std::string_view name_;
  bool is_counted_;
  std::chrono::steady_clock::time_point begun_;
};

}  // namespace llmb::runner::cpu
