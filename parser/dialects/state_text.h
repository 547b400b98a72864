// The text in which a LogReader's state survives a restart of the process: words separated by
// single spaces, printable, without newlines. Writer and reader stand on this one page.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "parser/step_sample.h"

namespace llmb::parser {

class StateWriter {
 public:
  void integer(std::int64_t value);
  void unsigned_integer(std::uint64_t value);
  void number(double value);  // exact, NaN and infinities included
  void boolean(bool value) { integer(value ? 1 : 0); }
  void text(std::string_view value);
  void optional_integer(std::optional<std::int64_t> value);
  void optional_number(std::optional<double> value);
  void sample(const StepSample& sample);
  // By the type of a StepSample's field.
  void value(bool value) { boolean(value); }
  void value(std::int32_t value) { integer(value); }
  void value(std::int64_t value) { integer(value); }
  void value(std::uint64_t value) { unsigned_integer(value); }
  void value(double value) { number(value); }
  void value(const std::string& value) { text(value); }
  void value(const std::optional<std::int32_t>& value) { optional_integer(value); }
  void value(const std::optional<std::int64_t>& value) { optional_integer(value); }
  void value(const std::optional<double>& value) { optional_number(value); }

  std::string take() { return std::move(out_); }

 private:
  void word(std::string_view value);

  std::string out_;
};

// After the first word that cannot be read, failed() is true and every read returns a zero.
class StateReader {
 public:
  explicit StateReader(std::string_view text) : rest_(text) {}

  std::int64_t integer();
  std::uint64_t unsigned_integer();
  double number();
  bool boolean() { return integer() != 0; }
  std::string text();
  std::optional<std::int64_t> optional_integer();
  std::optional<double> optional_number();
  StepSample sample();
  // By the type of a StepSample's field.
  void read(bool& value) { value = boolean(); }
  void read(std::int32_t& value) { value = static_cast<std::int32_t>(integer()); }
  void read(std::int64_t& value) { value = integer(); }
  void read(std::uint64_t& value) { value = unsigned_integer(); }
  void read(double& value) { value = number(); }
  void read(std::string& value) { value = text(); }
  void read(std::optional<std::int32_t>& value);
  void read(std::optional<std::int64_t>& value) { value = optional_integer(); }
  void read(std::optional<double>& value) { value = optional_number(); }
  // A count of things that follow; at most `limit`, else the state is refused.
  std::size_t count(std::size_t limit);

  bool failed() const { return failed_; }
  bool at_end() const { return rest_.empty(); }
  void fail() { failed_ = true; }

 private:
  std::string_view word();

  std::string_view rest_;
  bool failed_ = false;
};

}  // namespace llmb::parser
