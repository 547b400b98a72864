// Reference: a published result, with its figures as printed. WorkedExample: a calculation that a
// document shows in its text. PublishedCommand: a command that it tells its readers to run. What
// its parsers and logs print as an example is a SampleOutput: sample_output.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "parser/catalog/printed_number.h"

namespace llmb::parser {

// An MFU that another release prints for the same measurement.
struct RestatedMfu {
  PrintedNumber mfu_percent;
  std::string release;  // "25.04.01"
  std::string source;   // where it stands

  bool operator==(const RestatedMfu&) const = default;
};

struct Reference {
  std::string workload;
  std::string model_size;  // as published; "405b-proxy" is no size that the catalog has a model of
  std::string dtype;
  std::string gpu_type;
  std::int64_t gpu_count = 0;
  std::string release;      // "25.05"
  std::string document;     // Document::id; empty for a release whose document the catalog lacks
  std::string source;       // where it stands otherwise; empty where `document` says it
  std::int64_t line = 0;    // of the table's step times in the document
  std::int64_t column = 0;  // of the table, from 1
  std::optional<PrintedNumber> step_time_s;
  std::optional<PrintedNumber> tokens_per_s;
  std::optional<PrintedNumber> mfu_percent;
  std::optional<PrintedNumber> days_to_train_1t;
  std::vector<RestatedMfu> restated_mfu;
  // Of the configuration row it was measured with, where no Recipe of the catalog is that row.
  std::optional<std::int64_t> sequence_length;
  std::optional<std::int64_t> global_batch_size;
  std::optional<std::int64_t> layer_count;
  bool has_recipe = false;  // the catalog has the row it was measured with: runs can be held to it
  bool is_proxy = false;    // it was measured with fewer layers than the model has

  bool operator==(const Reference&) const = default;
};

struct WorkedExample {
  std::string document;
  std::int64_t line = 0;
  std::string quantity;  // "tokens_per_s", "step_time_s", "peak_tflops", "window", …
  std::string text;      // what the line prints
  std::string printed;   // the result as printed; a window for the quantity "window"
  // What the printed result should be: see arithmetic.h. Empty for what is taken, and not computed:
  // a peak, a window, a step time, a batch.
  std::string expression;
  // The configuration that it is of, as far as the text says: the document's table may have a
  // column for it. For a peak, and for an MFU: whose peak is meant.
  std::string model_size;
  std::string gpu_type;
  std::string dtype;
  std::optional<std::int64_t> gpu_count;
  // The peak that an MFU used.
  std::optional<double> peak_tflops;
  std::string explanation;  // what a finding on this example is to say

  bool operator==(const WorkedExample&) const = default;
};

// A command as a document prints it, and what it asks for: that of its variables and flags, or the
// document's defaults. Empty where it leaves a choice, as templates do.
struct PublishedCommand {
  std::string document;
  std::int64_t line = 0;
  std::string text;  // its exact words
  std::string workload;
  std::string model_size;
  std::string dtype;
  std::string gpu_type;
  std::optional<std::int64_t> gpu_count;

  bool operator==(const PublishedCommand&) const = default;
};

}  // namespace llmb::parser
