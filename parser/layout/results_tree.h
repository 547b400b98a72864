// The tree of the recipes until release 25.03, whose folders name no workload:
//   results/<version>/<dtype>/<size>/<gpus>/log-<framework>_<model>_<size>_<gpus>_<jobid>.out
// and in the earliest of them <model>_<size>_<gpus>_<jobid>.out.
#pragma once

#include <span>
#include <string_view>

#include "parser/layout/log_name.h"
#include "parser/layout/run_configuration.h"

namespace llmb::parser {

// `folders`: above the log. False where they are none of this tree; `configuration` is then
// untouched.
bool read_results_folders(std::span<const std::string_view> folders,
                          RunConfiguration& configuration);

// What the log's own name says: experiment, job id and retry; and to `configuration`, where it
// holds the size that the folders say, framework, model and workload. The name does not say whether
// the model is pretrained or tuned, so the workload is the model's name alone. `configuration` is
// that of read_results_folders().
LogName read_results_file_name(std::string_view file_name, RunConfiguration& configuration);

}  // namespace llmb::parser
