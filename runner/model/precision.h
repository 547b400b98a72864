// Precision: which numbers a run computes with. On the CPU backend narrow formats are emulated:
// values are rounded where a GPU would store or multiply them, sums and optimizer states are fp32.
#pragma once

#include <cstdint>
#include <string_view>

namespace llmb::runner {

// bf16: weights, activations, their gradients, and what enters a matrix product. The FP8 ones
// round what enters the products of the layers' matrices once more, and all else as bf16 does;
// attention, router and head stay BF16.
enum class Precision : std::uint8_t {
  fp32,
  bf16,
  fp8_current,  // a scale for each matrix, by its largest element; gradients in E5M2, else E4M3
  fp8_delayed,  // likewise, by the largest element of the steps before
  mxfp8,        // a power of two for every 32 elements along the product's sum; E4M3
};

inline std::string_view precision_name(Precision precision) {  // as --dtype has it
  constexpr std::string_view kNames[] = {"fp32", "bf16", "fp8_cs", "fp8_ds", "fp8_mx"};
  return kNames[static_cast<std::size_t>(precision)];
}

inline bool is_fp8(Precision precision) {
  return precision == Precision::fp8_current || precision == Precision::fp8_delayed ||
         precision == Precision::mxfp8;
}

}  // namespace llmb::runner
