// SampleOutput: a line that a document prints as what its programs put out: the row of its parser,
// or the step line of a log, with the figures as printed. A fact of the document, like its tables.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "parser/catalog/model_flops.h"
#include "parser/catalog/printed_number.h"

namespace llmb::parser {

// How the program that wrote the log counts, where that is not as the document does.
struct LoggedFlops {
  FlopsFormula flops_formula = FlopsFormula::recipe_full_attention;
  std::int64_t vocabulary_size = 0;  // which it takes for the model
  std::string source;

  bool operator==(const LoggedFlops&) const = default;
};

struct SampleOutput {
  std::string document;  // Document::id
  std::int64_t line = 0;
  std::string text;  // its name, or its exact words

  // What it is of. Without a number of GPUs nothing of the document is held against it.
  std::string model_size;
  std::string dtype;
  std::string gpu_type;
  std::optional<std::int64_t> gpu_count;
  std::string configuration_source;  // how these are known

  // Over the document's window, or of one step. Those printed in milliseconds are in seconds here,
  // with their text as printed.
  std::optional<PrintedNumber> step_time_s;
  std::optional<PrintedNumber> step_time_s_std;
  std::optional<PrintedNumber> tflops_per_gpu;
  std::optional<PrintedNumber> tflops_per_gpu_std;
  std::optional<LoggedFlops> logged_flops;

  std::optional<PrintedNumber> consumed_samples;
  std::optional<std::int64_t> step_count;  // after which so many samples are consumed

  // What its name says of the layout.
  std::optional<std::int64_t> tensor_parallel;
  std::optional<std::int64_t> pipeline_parallel;
  std::optional<std::int64_t> context_parallel;
  std::optional<std::int64_t> expert_parallel;
  std::optional<std::int64_t> expert_tensor_parallel;
  std::optional<std::int64_t> virtual_pipeline;
  std::optional<std::int64_t> micro_batch_size;
  std::optional<std::int64_t> global_batch_size;

  bool operator==(const SampleOutput&) const = default;
};

}  // namespace llmb::parser
