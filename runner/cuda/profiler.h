// What outer profilers are told: Nsight Systems collects between start and stop where it is started
// with `--capture-range=cudaProfilerApi`, and shows ranges over their kernels. Without one, all of
// it costs next to nothing.
#pragma once

namespace llmb::runner::cuda {

void start_profiler();
void stop_profiler();

// Of the calling thread; ranges nest. `name` is copied.
void push_range(const char* name);
void pop_range();

}  // namespace llmb::runner::cuda
