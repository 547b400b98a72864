// A tiny proxy of each family as a command line, and its run as a log.
#pragma once

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "runner/train_loop.h"

namespace llmb::runner {

using Arguments = std::vector<std::string>;

struct TinyRun {
  std::string log;
  std::string phases;
};

inline Arguments joined(Arguments arguments, const Arguments& more) {
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

inline Arguments tiny(const std::string& workload, const std::string& size, const Arguments& more) {
  return joined({"-w",
                 workload,
                 "-s",
                 size,
                 "--backend",
                 "cpu",
                 "--dtype",
                 "fp32",
                 "--num-layers",
                 "4",
                 "--hidden-size",
                 "32",
                 "--num-attention-heads",
                 "4",
                 "--num-query-groups",
                 "2",
                 "--head-size",
                 "8",
                 "--vocab-size",
                 "64",
                 "--seq-length",
                 "32",
                 "--micro-batch-size",
                 "1",
                 "--learning-rate",
                 "0.003"},
                more);
}

inline Arguments tiny_grok(const Arguments& more) {
  return tiny("pretrain_grok1", "314b",
              joined({"--num-experts", "4", "--expert-ffn-hidden-size", "32"}, more));
}
inline Arguments tiny_llama(const Arguments& more) {
  return tiny("pretrain_llama3.1", "8b", joined({"--ffn-hidden-size", "64"}, more));
}
inline Arguments tiny_maverick(const Arguments& more) {
  return tiny("pretrain_llama4_maverick", "400b",
              joined({"--ffn-hidden-size", "64", "--num-experts", "8", "--expert-ffn-hidden-size",
                      "32", "--shared-expert-ffn-hidden-size", "32"},
                     more));
}
inline Arguments tiny_nemotron(const Arguments& more) {
  return tiny("pretrain_nemotron4", "15b", joined({"--ffn-hidden-size", "64"}, more));
}

// Throws what the run throws.
inline TinyRun run_tiny(const Arguments& arguments, const Environment& environment = {}) {
  const ParsedOptions parsed = parse_options(arguments, environment);
  if (parsed.exit_code) throw std::invalid_argument(parsed.text);
  const auto settings = make_run_settings(parsed.options, parser::embedded_catalog());
  if (!settings) throw std::invalid_argument(settings.error().message);
  std::ostringstream log;
  std::ostringstream phases;
  LogSink sink(log);
  train_on_cpu(parsed.options, *settings, {sink, &phases});
  return {log.str(), phases.str()};
}

}  // namespace llmb::runner
