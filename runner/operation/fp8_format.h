// Fp8Format: the two narrow formats of eight bits. Source: OCP 8-bit Floating Point Specification
// 1.0.
#pragma once

namespace llmb::runner {

enum class Fp8Format { e4m3, e5m2 };

}  // namespace llmb::runner
