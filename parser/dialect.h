// Dialect: which program wrote a log, told from its content, or why that cannot be told; and the
// one table of what is known of each dialect. Its reader is in parser/dialects.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace llmb::parser {

// In the order of the table in dialect.cpp.
enum class Dialect {
  unknown,
  nemo,
  nemo_progress_bar,
  megatron_bridge,
  megatron_lm,
  maxtext,
  torchtitan,
  neuronx,
  hf_trainer,
  deepspeed,
  mlperf,
  verl,
  nemo_rl,
  automodel,
  nanotron,
  // What is no dialect, because it is no text that is read.
  utf_16,
  compressed,
  binary,
};

struct DialectTraits {
  Dialect dialect = Dialect::unknown;
  std::string_view name;   // as stored, and in JSON: "megatron_bridge"
  std::string_view title;  // as shown to people: "Megatron-Bridge"
  // What it counts and from where, as a note to a window: "iterations as NeMo prints them, from 0".
  std::string_view numbering;
  std::int64_t first_iteration = 0;  // 0 or 1: the number of the first step
  // What is measured where neither user, recipe nor release says otherwise.
  std::int64_t window_first = 0;
  std::int64_t window_last = 0;
  // Why such a log is not read, and what its owner can do; empty for all that is text.
  std::string_view why_not_read = {};
};

// All of them, `unknown` first.
std::span<const DialectTraits> dialects();
const DialectTraits& traits_of(Dialect dialect);

// Whether there is a reader of it: it is neither unknown nor without text.
bool is_read(Dialect dialect);

std::string_view dialect_name(Dialect dialect);
std::optional<Dialect> dialect_from_name(std::string_view name);

// Of every dialect that is read, for messages: "nemo, nemo_progress_bar, …".
std::string dialect_names();

}  // namespace llmb::parser
