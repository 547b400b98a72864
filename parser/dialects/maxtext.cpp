#include "parser/dialects/maxtext.h"

#include <array>

#include "parser/dialects/fields.h"

namespace llmb::parser {
namespace {

constexpr std::string_view kMarker = "completed step:";
constexpr std::array kLiterals = {kMarker};

void assign(StepSample& sample, std::string_view name, const Number& number) {
  if (name == "seconds") {
    sample.step_time_s = number.value;
    sample.step_time_resolution_s = half_last_digit(number.text);
  } else if (name == "TFLOP/s/device") {
    sample.tflops_per_gpu = known_tflops(number.value);
  } else if (name == "loss") {
    sample.loss = number.value;
  } else {
    add_extra_field(sample, name, number.value);
  }
}

void read_one(std::string_view text, std::uint64_t offset, StepLedger& ledger) {
  text.remove_prefix(kMarker.size());
  const auto step = take_integer(text);
  if (!step || *step < 0 || *step > kIterationMax || !take_literal(text, ", ")) {
    ledger.refuse_line(LineRefusal::iteration_not_read);
    return;
  }
  StepSample sample;
  sample.byte_offset = offset;
  sample.iteration = *step;
  bool is_understood = true;
  read_fields(
      text, {", ", ": "},
      [&](std::string_view name, const Number& number) { assign(sample, name, number); },
      [&](std::string_view name) { is_understood = is_understood && name != "seconds"; });
  if (!is_understood) ledger.refuse_line(LineRefusal::step_time_not_read);
  ledger.add(std::move(sample));
}

}  // namespace

std::span<const std::string_view> MaxtextReader::literals() const {
  return kLiterals;
}

void MaxtextReader::read(const Record& record, StepLedger& ledger) {
  std::size_t begin = record.text.find(kMarker);
  while (begin != std::string_view::npos) {
    const std::size_t next = record.text.find(kMarker, begin + 1);
    read_one(record.text.substr(begin, next - begin), record.offset, ledger);
    begin = next;
  }
}

}  // namespace llmb::parser
