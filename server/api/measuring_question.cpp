#include "server/api/measuring_question.h"

#include "server/api/request_error.h"
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

std::optional<std::string> read_document(const QueryParameters& parameters,
                                         const parser::Catalog& catalog) {
  auto document = parameters.text("document");
  if (!document || catalog.document(*document) != nullptr) return document;
  std::string ids;
  for (const auto& known : catalog.documents) ids += (ids.empty() ? "" : ", ") + known.id;
  throw bad_request("There is no document '" + *document + "'; there are " + ids + ".");
}

storage::RunFilter filter_of(const parser::Catalog& catalog, const MeasuringQuestion& question) {
  storage::RunFilter filter;
  filter.workload = report::names_of_workload(catalog, question.workload.value_or(""));
  if (question.cluster) filter.cluster = report::clusters_asked({*question.cluster});
  filter.include_superseded = question.included.contains(parser::RunMark::superseded);
  return filter;
}

}  // namespace llmb::api
