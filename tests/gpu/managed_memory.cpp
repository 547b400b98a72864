// For the kernels' tests on a device: they keep their operands in std::vector, so here all memory
// of the program that `new` gives is managed memory, which host and device share. run_all has
// CUDA wait for each kernel (CUDA_LAUNCH_BLOCKING), because these tests do not.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <new>

namespace {

// One slab, given out in pieces and never taken back: a test program ends soon. What comes before
// CUDA is there, or after the slab is full, comes from malloc.
constexpr std::size_t kSlabBytes = std::size_t{8} << 30;
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
    std::fputs("managed_memory: the slab is full; raise kSlabBytes\n", stderr);
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
  int devices = 0;
  const cudaError_t status = cudaGetDeviceCount(&devices);
  if (status != cudaSuccess || devices == 0) {
    std::fprintf(stderr, "No device: %s.\n",
                 status == cudaSuccess ? "the driver shows none" : cudaGetErrorString(status));
    return 77;
  }
  void* memory = nullptr;
  if (cudaMallocManaged(&memory, kSlabBytes) != cudaSuccess) {
    std::fputs("Could not have managed memory for the tests.\n", stderr);
    return 1;
  }
  slab = static_cast<char*>(memory);
  return RUN_ALL_TESTS();
}
