// The ranges that a catalog file's numbers lie in: a number outside is a slip of its unit.
#pragma once

#include <cstdint>

#include "parser/catalog/json_record.h"

namespace llmb::parser {

inline constexpr std::int64_t kGpuCountMax = 10'000'000;
inline constexpr std::int64_t kDimensionMax = 100'000'000;
inline constexpr std::int64_t kLineMax = 1'000'000;

inline constexpr NumberRange kTflops{50, 100'000, "in TFLOPS (1e12 FLOP/s)"};
inline constexpr NumberRange kMemory{8, 10'000, "in GB"};
inline constexpr NumberRange kStepTime{0.001, 3'600, "in seconds"};
inline constexpr NumberRange kTokensPerS{1, 1e12, "in tokens per second"};
inline constexpr NumberRange kPercent{1, 100, "in percent"};
inline constexpr NumberRange kDays{1e-4, 1e6, "in days"};

}  // namespace llmb::parser
