// LogName: what the name of a log file says, with or without the folder that knows its experiment.
//   log-<account>-<suffix>.<name>_<jobid>_<retry>.out    what the launcher writes
//   log-<name>.out, log-<name>_<jobid>.out               what the documents write
//   <name>_<jobid>.out                                   until release 25.03
//   slurm-<jobid>.out                                    26.x without nemo-run
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace llmb::parser {

struct LogName {
  std::string name;  // the experiment; the stem where the file says nothing more
  std::optional<std::string> account;
  std::optional<std::int64_t> job_id;
  std::optional<std::int64_t> retry;
};

// `experiment`: as the folders name it, or empty. Numbers behind it are then told apart from
// numbers that belong to it (…_bf16_16).
LogName parse_log_name(std::string_view file_name, std::string_view experiment);

}  // namespace llmb::parser
