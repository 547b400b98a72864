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
  float* largest =
      nullptr;  // of the operand's elements: of this cast, or delayed, of the step so far
  float* scale = nullptr;    // what elements are multiplied by before they are rounded
  float* inverse = nullptr;  // what the product is multiplied by
  Fp8ScaleKind kind = Fp8ScaleKind::current;  // of blocks there is nothing of the above
  // Of all experts of a layer, each of the above is the first one's, and those of the next lie so
  // many floats on.
  std::int64_t stride = 0;
};

}  // namespace llmb::runner
