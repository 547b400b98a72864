#include "runner/cpu/parallel_for.h"

namespace llmb::runner::cpu {
namespace {
thread_local int threads_of_this_rank = 1;
}

void set_threads_per_rank(int count) {
  threads_of_this_rank = std::max(1, count);
}
int threads_per_rank() {
  return threads_of_this_rank;
}

}  // namespace llmb::runner::cpu
