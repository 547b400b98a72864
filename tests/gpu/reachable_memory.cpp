// For the kernels' tests on a device: they keep their operands in std::vector and on the stack, so
// here all memory of the program that `new` gives, and the stack that the tests run on, is pinned
// memory of the host, which the device reaches at the same addresses. run_all has CUDA wait for
// each kernel (CUDA_LAUNCH_BLOCKING), because these tests do not. Over the double, an operand that
// a device would not reach ends the test that has it.
#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>

#include "runner/cuda/device.h"
#include "runner/cuda/memory.h"
#include "runner/simt/grid_runner.h"

// Of this program, by the linker.
extern "C" const char __executable_start;  // NOLINT(bugprone-reserved-identifier)
extern "C" const char _end;                // NOLINT(bugprone-reserved-identifier)

namespace {

using namespace llmb::runner;  // NOLINT(google-build-using-namespace): a program of one file

// One slab, given out in pieces and never taken back: a test program ends soon. What comes before
// CUDA is there comes from malloc.
constexpr std::size_t kSlabBytes = std::size_t{1} << 30;
constexpr std::size_t kStackBytes = std::size_t{8} << 20;
constexpr std::size_t kAlignment = 256;
char* slab = nullptr;
std::size_t used = 0;

void* take(std::size_t bytes) {
  if (slab) {
    const std::size_t size = (bytes + kAlignment - 1) / kAlignment * kAlignment;
    if (used + size <= kSlabBytes) {
      used += size;
      return slab + (used - size);
    }
    std::fputs("reachable_memory: the slab is full; raise kSlabBytes\n", stderr);
    std::abort();
  }
  if (void* memory = std::malloc(bytes > 0 ? bytes : 1)) return memory;
  throw std::bad_alloc();
}

void give_back(void* memory) {
  const auto* place = static_cast<char*>(memory);
  if (slab && place >= slab && place < slab + kSlabBytes) return;
  std::free(memory);
}

// Every word of the operands that is the address of something in the program or of what was
// allocated before the slab was there.
void check_operands(const std::string& kernel, const void* operands, std::size_t bytes) {
  const auto address_of = [](const void* place) { return reinterpret_cast<std::uintptr_t>(place); };
  static const std::uintptr_t image_end = address_of(&_end);
  for (std::size_t at = 0; at + sizeof(std::uintptr_t) <= bytes; at += sizeof(std::uintptr_t)) {
    std::uintptr_t word = 0;
    std::memcpy(&word, static_cast<const char*>(operands) + at, sizeof(word));
    const bool is_in_image = word >= address_of(&__executable_start) && word < image_end;
    const bool is_in_heap = word >= image_end && word < address_of(sbrk(0));
    if (!is_in_image && !is_in_heap) continue;
    throw simt::KernelFault(kernel +
                            ": an operand is a variable of the program or memory of before "
                            "main(), which a device does not reach");
  }
}

void* run_tests(void* result) {
  try {
    cuda::choose_device(0);
    *static_cast<int*>(result) = RUN_ALL_TESTS();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "reachable_memory: %s\n", error.what());
  }
  return nullptr;
}

}  // namespace

void* operator new(std::size_t bytes) {
  return take(bytes);
}
void* operator new[](std::size_t bytes) {
  return take(bytes);
}
void operator delete(void* memory) noexcept {
  give_back(memory);
}
void operator delete[](void* memory) noexcept {
  give_back(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  give_back(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  give_back(memory);
}

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  const cuda::DeviceCount devices = cuda::count_devices();
  if (devices.count == 0) {
    std::fprintf(stderr, "No device: %s.\n", devices.why_none.c_str());
    return 77;
  }
  try {
    cuda::choose_device(0);
    slab = reinterpret_cast<char*>(cuda::PinnedPlace::allocate(kSlabBytes));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "reachable_memory: %s\n", error.what());
    return 1;
  }
  simt::set_operand_check(check_operands);
  pthread_attr_t attributes;
  pthread_t thread{};
  int result = 1;
  used = kStackBytes;
  if (pthread_attr_init(&attributes) != 0 ||
      pthread_attr_setstack(&attributes, slab, kStackBytes) != 0 ||
      pthread_create(&thread, &attributes, run_tests, &result) != 0 ||
      pthread_join(thread, nullptr) != 0) {
    std::fputs("reachable_memory: no thread could be had whose stack a device reaches\n", stderr);
    return 1;
  }
  std::printf("%zu of %zu MiB were used\n", used >> 20U, kSlabBytes >> 20U);
  return result;
}
