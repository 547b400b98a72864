// A tiny run from options to log lines, on the CUDA backend or the CPU's.
#pragma once

#include <gtest/gtest.h>

#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "runner/cuda_train_loop.h"
#include "runner/plan/fp8_weights.h"
#include "tests/runner/train/tiny_run.h"

namespace llmb::runner {

// Its log. --backend cpu made the settings; who runs them is told by the function that is called.
// Plans of products are kept where the arguments say so.
inline std::string log_of(const Arguments& arguments, bool on_cuda,
                          std::int64_t gpu_bytes = std::int64_t{80} << 30,
                          std::ostream* phases = nullptr) {
  const ParsedOptions parsed = parse_options(joined({"--product-plans", ""}, arguments), {});
  EXPECT_FALSE(parsed.exit_code) << parsed.text;
  auto settings = make_run_settings(parsed.options, parser::embedded_catalog());
  if (!settings) throw std::invalid_argument(settings.error().message);
  std::ostringstream text;
  LogSink log(text);
  if (on_cuda) {
    settings->backend = Backend::cuda;
    settings->keeps_fp8_weights = choose_to_keep_fp8_weights(*settings, gpu_bytes);
    EXPECT_EQ(no_device(), std::nullopt);
    train_on_cuda(parsed.options, *settings, {log, phases});
  } else {
    train_on_cpu(parsed.options, *settings, {log, phases});
  }
  return text.str();
}

inline std::vector<double> losses_of(const std::string& log) {
  static const std::regex loss("(?:reduced_train_loss|lm loss): ([0-9.E+-]+)");
  std::vector<double> losses;
  for (std::sregex_iterator at(log.begin(), log.end(), loss), end; at != end; ++at) {
    losses.push_back(std::stod((*at)[1].str()));
  }
  return losses;
}

inline Arguments shorter(const Arguments& more) {
  return joined(tiny_llama(joined({"--num-layers", "2"}, more)), {});
}

}  // namespace llmb::runner
