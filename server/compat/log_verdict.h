// What the scripts' awk programs make of one log.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "server/compat/release.h"

namespace llmb::compat {

struct LogVerdict {
  enum class Kind {
    no_row,   // dropped silently and counted nowhere
    success,  // iteration 44 was seen; gaps do not matter
    failed,
    invalid,  // a NaN gradient norm (26.05)
  };
  Kind kind = Kind::no_row;
  // Text, because the scripts print text: "7.382", and "-" where there is no TFLOPS figure.
  std::string time_mean, time_std, tflops_mean, tflops_std;
  std::string max_iteration;      // failed inside the window; empty: failed before it
  std::string invalid_iteration;  // "unknown" where the line has no iteration
};

// `name`: of the file, without its folder. `text`: the whole log.
LogVerdict judge_nemo_log(const Release& release, std::string_view name, std::string_view text);
LogVerdict judge_mbridge_log(const Release& release, std::string_view name, std::string_view text);

// True for a log without any timing line that the scripts still count as an early failure.
bool looks_like_an_experiment(std::string_view name, std::string_view text);

}  // namespace llmb::compat
