// UnendedNumber: the number at the end of a last line that no newline ends. Whoever wrote the log,
// or copied it, may have been stopped within: "train_step_timing in s: 2" of 2.704.
#pragma once

#include <optional>
#include <string_view>

#include "parser/step_sample.h"

namespace llmb::parser {

struct PrintedDigits {
  int all = 0;           // but for zeros in front
  int behind_point = 0;  // of these

  bool are_fewer_than(const PrintedDigits& other) const {
    return all < other.all && behind_point < other.behind_point;
  }
};

class UnendedNumber {
 public:
  UnendedNumber() = default;  // none: every line has its end
  explicit UnendedNumber(std::string_view line);

  // Takes the step time, or the TFLOPS, out of `sample` where it is this number, and has fewer
  // digits, behind the point too, than that of the step before: it may have had more. Whether it
  // did. Of a number that is printed whole, and is a round one, it is wrong.
  bool leave_out(StepSample& sample, const StepSample& before) const;

 private:
  bool may_be_cut(const std::optional<double>& value, const std::optional<double>& before) const;

  std::optional<double> value_;
  PrintedDigits digits_;
};

}  // namespace llmb::parser
