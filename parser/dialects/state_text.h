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
