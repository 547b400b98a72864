#include "parser/log_facts.h"

#include "parser/foundation/name_table.h"

namespace llmb::parser {
namespace {

constexpr auto kDialects = name_table<Dialect>({
    {Dialect::unknown, "unknown"},
    {Dialect::nemo, "nemo"},
    {Dialect::nemo_progress_bar, "nemo_progress_bar"},
    {Dialect::megatron_bridge, "megatron_bridge"},
    {Dialect::megatron_lm, "megatron_lm"},
    {Dialect::maxtext, "maxtext"},
    {Dialect::torchtitan, "torchtitan"},
    {Dialect::neuronx, "neuronx"},
});

constexpr auto kCheckpointKinds = name_table<CheckpointEvent::Kind>({
    {CheckpointEvent::Kind::save, "save"},
    {CheckpointEvent::Kind::save_begun, "save_begun"},
    {CheckpointEvent::Kind::save_finished, "save_finished"},
    {CheckpointEvent::Kind::load, "load"},
});

}  // namespace

std::string_view checkpoint_kind_name(CheckpointEvent::Kind kind) {
  return kCheckpointKinds.name(kind);
}

std::optional<CheckpointEvent::Kind> checkpoint_kind_from_name(std::string_view name) {
  return kCheckpointKinds.value(name);
}

std::string_view dialect_name(Dialect dialect) {
  return kDialects.name(dialect);
}

std::optional<Dialect> dialect_from_name(std::string_view name) {
  return kDialects.value(name);
}

}  // namespace llmb::parser
