// `parse --format json`, and which logs it had runs of.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/server/cli/program_run.h"
#include "tests/temporary_folder.h"

namespace llmb::cli {

inline std::vector<std::string> paths_in(const ProgramRun& run) {
  std::vector<std::string> paths;
  const auto document = nlohmann::json::parse(run.out);
  for (const auto& one : document.at("runs")) paths.push_back(one.at("path"));
  return paths;
}

inline ProgramRun parse_json(const TemporaryFolder& folder, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"parse", "--format", "json"});
  return run_program(arguments, {folder.path(), {}, false});
}

}  // namespace llmb::cli
