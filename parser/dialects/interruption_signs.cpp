#include "parser/dialects/interruption_signs.h"

#include <array>

namespace llmb::parser {
namespace {

struct LineSign {
  std::string_view literal;
  InterruptionSign sign;
};
constexpr std::array kInterruptionSigns = {
    // NeMo 2, which prints a line for each batch of an evaluation: the first. Then NeMo 1's bar.
    LineSign{"Validation: iteration 1/", InterruptionSign::evaluation},
    LineSign{"Validation DataLoader ", InterruptionSign::evaluation},
    // Megatron-LM and Megatron-Bridge.
    LineSign{"validation loss at iteration ", InterruptionSign::evaluation},
    LineSign{"eval metrics after step: ", InterruptionSign::evaluation},  // MaxText
    LineSign{"{'eval_loss': ", InterruptionSign::evaluation},             // Hugging Face Trainer
    LineSign{"Starting validation", InterruptionSign::evaluation},        // NeMo-RL
    // NeMo's callback, nsys itself, torchtitan.
    LineSign{"= Start nsys profiling", InterruptionSign::profile_begun},
    LineSign{"= End nsys profiling", InterruptionSign::profile_ended},
    LineSign{"Capture range started in the application", InterruptionSign::profile_begun},
    LineSign{"Capture range ended in the application", InterruptionSign::profile_ended},
    LineSign{"Dumping profiler traces at step ", InterruptionSign::profile},
    // llmb-step-runner, whose table comes after the last of them.
    LineSign{"llmb-step-runner profile: from step ", InterruptionSign::profile_begun},
    LineSign{"llmb-step-runner profile: steps ", InterruptionSign::profile_ended},
};

constexpr std::array kInterruptionLiterals = [] {
  std::array<std::string_view, kInterruptionSigns.size()> literals;
  for (std::size_t i = 0; i < literals.size(); ++i) literals[i] = kInterruptionSigns[i].literal;
  return literals;
}();

}  // namespace

std::span<const std::string_view> interruption_literals() {
  return kInterruptionLiterals;
}

std::optional<InterruptionSign> read_interruption(const Record& record, SignIndex::Signs signs) {
  for (const std::size_t i : signs) {
    const LineSign& sign = kInterruptionSigns[i];
    if (record.text.find(sign.literal) != std::string_view::npos) return sign.sign;
  }
  return std::nullopt;
}

}  // namespace llmb::parser
