// Fp8Scale: by what one operand of an FP8 product is scaled, and where, in device memory, the scale
// stands, with what it follows from. The host reads none of them in a step.
#pragma once

#include <cstdint>

namespace llmb::runner {

enum class Fp8ScaleKind : std::uint8_t {
  current,  // by the largest element of this cast
  delayed,  // of earlier steps: `scale` is given, not found
  blocks,   // a power of two for every 32 elements, kept with them: MXFP8, in E4M3 only
};

struct Fp8Scale {
  // Of the operand's elements: of this cast, or delayed, of the step so far.
  float* largest = nullptr;
  float* scale = nullptr;  // what elements are multiplied by before they are rounded
  // What the product is multiplied by, at a multiple of kFp8InverseStride floats: cuBLASLt from
  // 12.9 on refuses products whose scales do not begin at multiples of 16 bytes.
  float* inverse = nullptr;
  Fp8ScaleKind kind = Fp8ScaleKind::current;  // of blocks there is nothing of the above
  // Of all experts of a layer, each of the above is the first one's, and those of the next lie so
  // many floats on; inverses by a stride of their own.
  std::int64_t stride = 0;
  std::int64_t inverse_stride = 0;
};

inline constexpr std::int64_t kFp8InverseStride = 16 / sizeof(float);

}  // namespace llmb::runner
