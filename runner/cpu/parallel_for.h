// Threads inside one rank's operations. The blocks of a loop depend on its length only, and no
// block reads what another writes, so the number of threads never changes a bit of a result.
#pragma once

#include <algorithm>
#include <cstdint>

namespace llmb::runner::cpu {

// For operations called from the calling thread; 1 unless set. Ranks that are threads of one
// process keep 1 each; a rank that has the machine to itself takes its cores. OpenMP only.
void set_threads_per_rank(int count);
int threads_per_rank();

// Calls body(begin, end) for every block of at most `grain` indices in [0, count).
template <typename Body>
void parallel_for(std::int64_t count, std::int64_t grain, Body&& body) {
  const std::int64_t blocks = (count + grain - 1) / grain;
#ifdef _OPENMP
  const int threads = static_cast<int>(std::min<std::int64_t>(threads_per_rank(), blocks));
  if (threads > 1) {
#pragma omp parallel for num_threads(threads) schedule(static)
    for (std::int64_t block = 0; block < blocks; ++block) {
      body(block * grain, std::min(count, (block + 1) * grain));
    }
    return;
  }
#endif
  for (std::int64_t block = 0; block < blocks; ++block) {
    body(block * grain, std::min(count, (block + 1) * grain));
  }
}

}  // namespace llmb::runner::cpu
