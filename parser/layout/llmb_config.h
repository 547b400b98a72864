// llmb-config_<JOBID>.yaml: what the recipes' launcher wrote about a job.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "parser/layout/run_configuration.h"
#include "parser/result.h"

namespace llmb::parser {

struct LlmbConfig {
  std::optional<std::int64_t> job_id;
  RunConfiguration configuration;  // all with ConfigSource::llmb_config
};

// Unknown keys are kept under their own dotted name; a wrong shape is an error that names the
// line. Input over 1 MiB is refused.
Result<LlmbConfig> parse_llmb_config(std::string_view yaml);

}  // namespace llmb::parser
