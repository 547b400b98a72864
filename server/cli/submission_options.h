// The options of `submit` that describe jobs, and the submissions that they make.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "parser/result.h"
#include "server/dispatch/submission.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace llmb::cli {

struct SubmissionArguments {
  dispatch::Submission submission;
  std::vector<std::int64_t> scales;
  std::int64_t repeats = 1;
  std::vector<std::string> environment;     // "NAME=value"
  std::vector<std::string> runner_options;  // "num-layers=2"
  std::vector<std::string> slurm_arguments;
  std::vector<std::pair<std::string, std::string>> slurm_options;  // of the options by name
  std::string file;                                                // of jobs, as JSON
  std::vector<const CLI::Option*> options_of_jobs;                 // all but --file
};

// Jobs come from a file, or from options: not from both.
void add_submission_options(CLI::App& command, SubmissionArguments& arguments);

parser::Result<std::vector<dispatch::Submission>> submissions_of(
    const SubmissionArguments& arguments);

}  // namespace llmb::cli
