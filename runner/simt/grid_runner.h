// run_grid: a kernel, as runner/kernels/launch.h has it, on the CPU instead of a GPU. Where a
// program has streams of its own, it says what a stream does with a kernel; else kernels run at
// once. The order of lanes is that of the thread that launches, whoever runs the kernel.
#pragma once

#include <cstddef>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <typeindex>

#include "runner/simt/block_runner.h"

struct CUstream_st;

namespace llmb::runner::simt {

// Called with every kernel that this process launches, and with its type; it has to call `work`
// sooner or later, on this thread or another one, in the stream's order. Null: at once.
// Thread-safe.
using StreamExecutor = void (*)(CUstream_st* stream, std::type_index kernel,
                                std::function<void()> work);
void set_stream_executor(StreamExecutor executor);
StreamExecutor stream_executor();

// Called with the operands of every kernel that this process launches; throws KernelFault for one
// that a device would not reach. Null: nothing is looked at. Thread-safe.
using OperandCheck = void (*)(const std::string& kernel, const void* operands, std::size_t bytes);
void set_operand_check(OperandCheck check);
OperandCheck operand_check();

// "RmsNormForwardKernel<Bf16>", out of what the compiler calls a function of that type.
std::string name_in_signature(std::string_view signature);

template <typename Kernel>
std::string kernel_name() {
  return name_in_signature(__PRETTY_FUNCTION__);
}

template <typename Kernel>
void run_grid(const Kernel& kernel, Dim3 grid, int threads, std::size_t shared_bytes,
              CUstream_st* stream) {
  if (threads > Kernel::kThreadsMax) {
    throw KernelFault(kernel_name<Kernel>() + ": launched with " + std::to_string(threads) +
                      " threads a block, its launch bound is " +
                      std::to_string(Kernel::kThreadsMax));
  }
  if (const OperandCheck check = operand_check()) {
    Kernel operands = kernel;
#if !defined(__clang__)
    __builtin_clear_padding(&operands);  // which may hold what stood there before
#endif
    check(kernel_name<Kernel>(), &operands, sizeof(operands));
  }
  static_assert(sizeof(Kernel) <= 4096, "operands of a kernel have 4 KiB");
  const auto work = [kernel, grid, threads, shared_bytes, seed = order_seed()] {
    set_order_seed(seed);
    BlockRunner::of_this_thread().run(
        kernel_name<Kernel>(), grid, threads, shared_bytes,
        [](const void* operands) { (*static_cast<const Kernel*>(operands))(); }, &kernel);
  };
  if (const StreamExecutor executor = stream_executor()) {
    executor(stream, typeid(Kernel), work);
  } else {
    work();
  }
}

}  // namespace llmb::runner::simt
