// Operand: what enters the three products of a linear layer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>

namespace llmb::runner {

enum class Operand : std::uint8_t { input, weight, gradient };
inline constexpr const char* kOperandNames[] = {"input", "weight", "gradient"};
inline constexpr std::size_t kOperandCount = std::size(kOperandNames);

// Where an operand of a part (an expert's) stands in a list of all of a layer.
inline std::size_t operand_index(std::size_t part, Operand operand) {
  return part * kOperandCount + static_cast<std::size_t>(operand);
}

}  // namespace llmb::runner
