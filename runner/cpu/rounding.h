// What narrow formats keep of a number, emulated in float: the reference for casts on a GPU.
// Rounding is to nearest, ties to even. BF16 overflows to infinity; the FP8 formats saturate, as
// trainers' casts do, at 448 (E4M3, which has no infinity) and 57344 (E5M2). NaN stays NaN.
// Source: OCP 8-bit Floating Point Specification 1.0; Micikevicius et al. 2022.
#pragma once

#include <cstdint>

#include "runner/operation/fp8_format.h"

namespace llmb::runner::cpu {

using runner::fp8_max;
using runner::Fp8Format;

float round_to_bf16(float value);
float round_to_fp8(float value, Fp8Format format);

// The bits, and what bits mean.
std::uint16_t encode_bf16(float value);
float decode_bf16(std::uint16_t bits);

}  // namespace llmb::runner::cpu
