#include "parser/dialect.h"

#include <algorithm>
#include <array>

namespace llmb::parser {
namespace {

// The windows are those of the recipe documents, "Performance Measurement".
constexpr auto kDialects = std::to_array<DialectTraits>({
    {Dialect::unknown, "unknown", "not recognised", "iterations as the log numbers them", 0, 11,
     44},
    {Dialect::nemo, "nemo", "NeMo 2", "iterations as NeMo prints them, from 0", 0, 11, 44},
    {Dialect::nemo_progress_bar, "nemo_progress_bar", "NeMo progress bar",
     "global steps as the NeMo progress bar prints them, from 0", 0, 11, 44},
    {Dialect::megatron_bridge, "megatron_bridge", "Megatron-Bridge",
     "iterations as Megatron-Bridge prints them, from 1", 1, 35, 44},
    {Dialect::megatron_lm, "megatron_lm", "Megatron-LM",
     "iterations as Megatron-LM prints them, from 1", 1, 35, 44},
    {Dialect::maxtext, "maxtext", "MaxText", "steps as MaxText prints them, from 0", 0, 11, 44},
    {Dialect::torchtitan, "torchtitan", "torchtitan", "steps as torchtitan prints them, from 1", 1,
     11, 44},
    {Dialect::neuronx, "neuronx", "NeuronX", "steps as NeuronX prints them, from 0", 0, 11, 44},
    {Dialect::hf_trainer, "hf_trainer", "HF Trainer",
     "steps as the Trainer's progress bar counts them, from 1", 1, 11, 44},
    {Dialect::deepspeed, "deepspeed", "DeepSpeed", "global steps as DeepSpeed prints them, from 1",
     1, 11, 44},
    {Dialect::mlperf, "mlperf", "MLPerf", "steps of the MLPerf log's tracked statistics", 1, 11,
     44},
    {Dialect::verl, "verl", "verl", "steps as verl prints them, from 1", 1, 11, 44},
    {Dialect::nemo_rl, "nemo_rl", "NeMo-RL", "steps as NeMo-RL prints them, from 1", 1, 11, 44},
    {Dialect::automodel, "automodel", "NeMo Automodel", "steps as Automodel prints them, from 0", 0,
     11, 44},
    {Dialect::nanotron, "nanotron", "nanotron", "iterations as nanotron prints them, from 1", 1, 11,
     44},
    {Dialect::utf_16, "utf_16", "UTF-16, not read", "iterations as the log numbers them", 0, 11, 44,
     "the log is UTF-16, which is not read: convert it to UTF-8"},
    {Dialect::compressed, "compressed", "compressed, not read",
     "iterations as the log numbers them", 0, 11, 44,
     "the log is compressed, and not read: unpack it"},
    {Dialect::binary, "binary", "no text", "iterations as the log numbers them", 0, 11, 44,
     "the log is no text: its first bytes are binary"},
});

constexpr bool is_in_order_of_the_enum() {
  for (std::size_t i = 0; i < kDialects.size(); ++i) {
    if (kDialects[i].dialect != static_cast<Dialect>(i)) return false;
  }
  return true;
}
static_assert(is_in_order_of_the_enum());

}  // namespace

std::span<const DialectTraits> dialects() {
  return kDialects;
}

const DialectTraits& traits_of(Dialect dialect) {
  const auto index = static_cast<std::size_t>(dialect);
  return kDialects[index < kDialects.size() ? index : 0];
}

bool is_read(Dialect dialect) {
  return dialect != Dialect::unknown && traits_of(dialect).why_not_read.empty();
}

std::string_view dialect_name(Dialect dialect) {
  return traits_of(dialect).name;
}

std::optional<Dialect> dialect_from_name(std::string_view name) {
  const auto found = std::find_if(kDialects.begin(), kDialects.end(),
                                  [&](const DialectTraits& traits) { return traits.name == name; });
  return found == kDialects.end() ? std::nullopt : std::optional(found->dialect);
}

std::string dialect_names() {
  std::string names;
  for (const DialectTraits& traits : dialects()) {
    if (!is_read(traits.dialect)) continue;
    if (!names.empty()) names += ", ";
    names += traits.name;
  }
  return names;
}

}  // namespace llmb::parser
