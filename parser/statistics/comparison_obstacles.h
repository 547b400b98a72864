// Obstacle: what keeps two configurations from being compared. A different dtype, GPU, layout or
// release is none: it is what is compared.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parser/statistics/compared_run.h"

namespace llmb::parser {

// Why two groups, or one metric of them, cannot be compared.
struct Obstacle {
  std::string code;  // "different_workload"
  std::string text;
  std::vector<ComparedMetric> metrics;  // that it bars
};

// What obstacles follow from: the work that a run's figures are of, and how they were made.
struct ComparedWork {
  std::string workload;                     // this and the next: empty where the run does not say
  std::string model_size;                   // both by the catalog's names where it knows the model
  std::optional<std::int64_t> layer_count;  // of its recipe
  std::string window;
  std::optional<std::int64_t> global_batch_size;
  std::optional<std::int64_t> sequence_length;  // that its rate of tokens was computed with
  bool has_printed_rate = false;                // the rate is as the log prints it
  Dialect dialect = Dialect::unknown;
  std::optional<std::string> framework;
  std::optional<std::string> framework_version;
  std::optional<std::string> release;

  bool operator==(const ComparedWork&) const = default;
};

// Taken for granted of the metric tflops_per_gpu alone.
inline constexpr std::string_view kFlopsFormulaAssumption = "formula for FLOPs";

ComparedWork work_of(const ComparedRun& run);

// Of one group of runs each; empty where nothing stands in the way.
// With `assumptions`, what a run does not say is no obstacle but taken to be as in the other, and
// its name is added there.
std::vector<Obstacle> obstacles_between(const ComparedWork& baseline, const ComparedWork& other,
                                        std::vector<std::string>* assumptions = nullptr);
std::vector<Obstacle> obstacles_between(const ComparedRun& baseline, const ComparedRun& other,
                                        std::vector<std::string>* assumptions = nullptr);

}  // namespace llmb::parser
