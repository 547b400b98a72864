#include "parser/dialects/checkpoint.h"

#include <algorithm>
#include <array>

#include "parser/dialects/fields.h"

namespace llmb::parser {
namespace {

using Kind = CheckpointEvent::Kind;

// How a line is read; the words around the numbers differ from program to program.
enum class Form {
  nemo_fields,     // "Rank: 0 : Iteration: 50 : … : Save duration: 4.389s"
  iteration_next,  // the iteration follows the literal
  iteration_at,    // the iteration follows the line's last "at iteration "
  timer,           // "save-checkpoint ....: (24567.21, 24567.33)", in ms
  path,            // the iteration is in the path behind the literal, if anywhere
  words,           // no number
  seconds,         // "Finished … in 5.53 seconds.", in older versions "…)in 5.53"
};

struct Sign {
  std::string_view literal;
  Kind kind;
  Form form;
  bool is_of_next_step = false;  // see StepLedger::add_checkpoint
};
constexpr std::array kCheckpointSigns = {
    Sign{"Global Checkpoint Save", Kind::save, Form::nemo_fields},
    Sign{"Global Checkpoint Load", Kind::load, Form::nemo_fields},
    Sign{"Checkpoint save for step ", Kind::save_begun, Form::iteration_next},
    Sign{"Async checkpoint save for step ", Kind::save_finished, Form::iteration_next},
    Sign{"saving checkpoint at iteration ", Kind::save_begun, Form::iteration_next},
    Sign{"uccessfully saved checkpoint from iteration ", Kind::save_finished, Form::iteration_next},
    Sign{"successfully loaded checkpoint from ", Kind::load, Form::iteration_at},
    Sign{"save-checkpoint .", Kind::save, Form::timer},
    Sign{"load-checkpoint .", Kind::load, Form::timer},
    // torchtitan, where every rank may say so; the last one's words are others.
    Sign{"Saving the checkpoint (or staging", Kind::save_begun, Form::words},
    Sign{"Finished saving the checkpoint (or staging", Kind::save, Form::seconds},
    Sign{" at last step, step ", Kind::save_begun, Form::iteration_next},
    // MaxText prints a step's line while the next one is under way.
    Sign{"asynchronous checkpoint save for step ", Kind::save_begun, Form::iteration_next, true},
    Sign{"aved a checkpoint at step ", Kind::save, Form::iteration_next, true},
    // Hugging Face Trainer; DeepSpeed's engine, and its files of one save, which may be hundreds.
    Sign{"Saving model checkpoint to ", Kind::save_begun, Form::path},
    Sign{"Saving model checkpoint: ", Kind::save_begun, Form::path},
    Sign{"[Torch] Saving ", Kind::save_begun, Form::path},
    Sign{"]: Saving checkpoint at ", Kind::save_begun, Form::path},               // nanotron
    Sign{"Saving checkpoint to ", Kind::save_begun, Form::path},                  // Automodel
    Sign{"Saving checkpoint for step ", Kind::save_begun, Form::iteration_next},  // NeMo-RL
};

constexpr std::array kLiterals = [] {
  std::array<std::string_view, kCheckpointSigns.size()> literals;
  for (std::size_t i = 0; i < kCheckpointSigns.size(); ++i)
    literals[i] = kCheckpointSigns[i].literal;
  return literals;
}();

// After the last `name`. Searched from the left: that goes from first letter to first letter, while
// rfind() compares at every place.
std::optional<std::int64_t> integer_after(std::string_view text, std::string_view name) {
  const std::size_t at = text.rfind(name);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view rest = text.substr(at + name.size());
  return take_iteration(rest);
}

// A duration: not negative, and a number.
std::optional<double> seconds(const std::optional<Number>& number) {
  return number && number->value >= 0 && number->value < 1e9 ? std::optional(number->value)
                                                             : std::nullopt;
}

// Both spacings: save lines say "Rank: 0", load lines "Rank : 0".
std::optional<Number> field(std::string_view text, std::string_view name) {
  for (std::size_t at = text.find(name); at != std::string_view::npos;
       at = text.find(name, at + 1)) {
    std::string_view rest = text.substr(at + name.size());
    while (!rest.empty() && rest.front() == ' ') rest.remove_prefix(1);
    if (take_literal(rest, ":")) return leading_number(rest);
  }
  return std::nullopt;
}

std::optional<std::int64_t> integer_field(std::string_view text, std::string_view name) {
  const auto number = field(text, name);
  if (!number) return std::nullopt;
  const auto value = integer_of(number->value);
  return value && *value >= 0 ? value : std::nullopt;
}

bool read_nemo_fields(std::string_view text, CheckpointEvent& event) {
  event.rank = integer_field(text, "Rank");
  event.iteration = integer_field(text, "Iteration");
  const bool is_save = event.kind == Kind::save;
  event.duration_s = seconds(field(text, is_save ? "Save duration" : "load_checkpoint"));
  return event.duration_s.has_value();
}

// The largest of "(min, max)" over the ranks.
bool read_timer(std::string_view text, CheckpointEvent& event) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return false;
  std::string_view rest = trimmed(text.substr(colon + 1));
  if (take_literal(rest, "(")) {
    const auto lowest = leading_number(rest);
    if (!lowest) return false;
    rest = lowest->rest;
    if (!take_literal(rest, ",")) return false;
  }
  const auto duration_ms = seconds(leading_number(rest));
  if (!duration_ms) return false;
  event.duration_s = *duration_ms / 1000;
  return true;
}

// "ckpt/global_step30/mp_rank_00_model_states.pt...", "out/checkpoint-30", "x/epoch_0_step_30",
// "checkpoints/30": a folder above may be named by another run's.
std::optional<std::int64_t> iteration_of_path(std::string_view path) {
  path = trimmed(path.substr(0, path.find(' ')), ".'\"");
  std::optional<std::int64_t> furthest;
  std::size_t place = 0;
  for (const std::string_view name : {"global_step", "checkpoint-", "step_", "step-"}) {
    const std::size_t at = path.rfind(name);
    if (at == std::string_view::npos || at < place) continue;
    if (const auto iteration = integer_after(path, name)) {
      furthest = iteration;
      place = at;
    }
  }
  if (furthest) return furthest;
  std::string_view last = path.substr(path.rfind('/') + 1);
  const auto iteration = take_iteration(last);
  return last.empty() ? iteration : std::nullopt;
}

bool read_form(const Sign& sign, std::string_view text, CheckpointEvent& event) {
  switch (sign.form) {
    case Form::nemo_fields:
      return read_nemo_fields(text, event);
    case Form::timer:
      return read_timer(text, event);
    case Form::path:
      event.iteration = iteration_of_path(text.substr(sign.literal.size()));
      return true;
    case Form::words:
      return true;
    case Form::seconds:
      if (const std::size_t at = text.find("in ", text.find(')')); at != std::string_view::npos) {
        event.duration_s = seconds(leading_number(text.substr(at + 3)));
      }
      return true;
    case Form::iteration_at:
      event.iteration = integer_after(text, "at iteration ");
      break;
    case Form::iteration_next:
      event.iteration = integer_after(text, sign.literal);
      break;
  }
  return event.iteration.has_value();
}

}  // namespace

std::span<const std::string_view> checkpoint_literals() {
  return kLiterals;
}

std::optional<PrintedCheckpoint> read_checkpoint(const Record& record, SignIndex::Signs signs) {
  for (const std::size_t i : signs) {
    const Sign& sign = kCheckpointSigns[i];
    const std::size_t at = record.text.find(sign.literal);
    if (at == std::string_view::npos) continue;
    CheckpointEvent event;
    event.kind = sign.kind;
    event.offset = record.offset;
    if (!read_form(sign, record.text.substr(at), event)) return std::nullopt;
    const bool is_async_end = sign.kind == Kind::save_finished && sign.literal.front() == 'A';
    // "… (/ckpt/step=24.ckpt) finalized successfully.": else it says that it begins.
    if (is_async_end && record.text.find("finalized", at) == std::string_view::npos) {
      event.kind = Kind::save_begun;
    }
    return PrintedCheckpoint{event, sign.is_of_next_step};
  }
  return std::nullopt;
}

}  // namespace llmb::parser
