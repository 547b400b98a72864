#include "parser/log_facts.h"

#include "parser/foundation/name_table.h"

namespace llmb::parser {
namespace {

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

}  // namespace llmb::parser
