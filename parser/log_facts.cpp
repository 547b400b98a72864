#include "parser/log_facts.h"

#include <array>

namespace llmb::parser {
namespace {

struct Name {
  Dialect dialect;
  std::string_view text;
};
constexpr std::array kNames = {
    Name{Dialect::unknown, "unknown"},
    Name{Dialect::nemo, "nemo"},
    Name{Dialect::nemo_progress_bar, "nemo_progress_bar"},
    Name{Dialect::megatron_bridge, "megatron_bridge"},
    Name{Dialect::megatron_lm, "megatron_lm"},
    Name{Dialect::maxtext, "maxtext"},
    Name{Dialect::torchtitan, "torchtitan"},
    Name{Dialect::neuronx, "neuronx"},
};

struct CheckpointName {
  CheckpointEvent::Kind kind;
  std::string_view text;
};
constexpr std::array kCheckpointNames = {
    CheckpointName{CheckpointEvent::Kind::save_begun, "save_begun"},
    CheckpointName{CheckpointEvent::Kind::save, "save"},
    CheckpointName{CheckpointEvent::Kind::save_finished, "save_finished"},
    CheckpointName{CheckpointEvent::Kind::load, "load"},
};

}  // namespace

std::string_view checkpoint_kind_name(CheckpointEvent::Kind kind) {
  for (const CheckpointName& name : kCheckpointNames) {
    if (name.kind == kind) return name.text;
  }
  return "save";
}

std::optional<CheckpointEvent::Kind> checkpoint_kind_from_name(std::string_view text) {
  for (const CheckpointName& name : kCheckpointNames) {
    if (name.text == text) return name.kind;
  }
  return std::nullopt;
}

std::string_view dialect_name(Dialect dialect) {
  for (const Name& name : kNames) {
    if (name.dialect == dialect) return name.text;
  }
  return "unknown";
}

std::optional<Dialect> dialect_from_name(std::string_view text) {
  for (const Name& name : kNames) {
    if (name.text == text) return name.dialect;
  }
  return std::nullopt;
}

}  // namespace llmb::parser
