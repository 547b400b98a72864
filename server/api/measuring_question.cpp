#include "server/api/measuring_question.h"

#include "server/report/filter_values.h"
#include "server/report/stored_runs.h"

namespace llmb::api {

MeasuringQuestion read_measuring_question(const QueryParameters& parameters) {
  return {parameters.text("workload"), parameters.text("cluster"),
          parameters.asked_window("window"), parameters.step_interruptions("without"),
          parameters.run_marks("include")};
}

parser::RunSelection read_selection(const QueryParameters& parameters) {
  return {parameters.text("workload"), parameters.text("model_size"), parameters.text("dtype"),
          parameters.text("gpu_type"), parameters.integer("gpu_count", 1, 10'000'000)};
}

storage::RunFilter filter_of(const parser::Catalog& catalog, const MeasuringQuestion& question) {
  storage::RunFilter filter;
  filter.workload = report::names_of_workload(catalog, question.workload.value_or(""));
  if (question.cluster) filter.cluster = report::clusters_asked({*question.cluster});
  filter.include_superseded = question.included.contains(parser::RunMark::superseded);
  return filter;
}

}  // namespace llmb::api
