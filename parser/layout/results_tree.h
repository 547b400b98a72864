// The tree of the recipes until release 25.03, whose folders name no workload:
//   results/<version>/<dtype>/<size>/<gpus>/log-<framework>_<model>_<size>_<gpus>_<jobid>.out
// and in the earliest of them <model>_<size>_<gpus>_<jobid>.out.
#pragma once

#include <span>
#include <string_view>

#include "parser/layout/run_path.h"

namespace llmb::parser {

// `folders`: above the log. False where they are none of this tree; `path` is then untouched.
bool read_results_folders(std::span<const std::string_view> folders, RunPath& path);

// What the log's own name adds to the folders: experiment, job id, retry, and, where it holds the
// size that the folders say, framework, model and workload. The name does not say whether the
// model is pretrained or tuned, so the workload is the model's name alone. Call after
// read_results_folders().
void read_results_file_name(std::string_view file_name, RunPath& path);

}  // namespace llmb::parser
