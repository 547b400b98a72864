// Fp8Scale: where, in device memory, the scale of one operand of an FP8 product stands, with what
// it follows from. The host reads none of them in a step.
#pragma once

namespace llmb::runner {

struct Fp8Scale {
  float* largest =
      nullptr;  // of the operand's elements: of this cast, or delayed, of the step so far
  float* scale = nullptr;    // what elements are multiplied by before they are rounded
  float* inverse = nullptr;  // what the product is multiplied by
  bool is_delayed = false;   // `scale` is of earlier steps: given, not found
};

}  // namespace llmb::runner
