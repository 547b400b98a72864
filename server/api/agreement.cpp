// GET /api/v1/runs/{id}/agreement?window=&without=: what each known tool would report for the run's
// log, and why that differs from ours.
#include <fmt/format.h>

#include "parser/dialects/tflops_pairing.h"
#include "parser/step_interruption.h"
#include "server/api/json.h"
#include "server/api/query_parameters.h"
#include "server/api/request_error.h"
#include "server/api/resources.h"
#include "server/api/run_lookup.h"
#include "server/api/tagged_response.h"
#include "server/report/agreement_json.h"
#include "server/report/stored_runs.h"

namespace llmb::api {
namespace {

constexpr std::int64_t kAgreementStepsMax = 200'000;

// The tools' windows differ, and some take all steps.
std::vector<parser::StepSample> read_all_steps(storage::Reader& reader, storage::RunId id) {
  std::vector<parser::StepSample> samples;
  reader.visit_steps(id, std::nullopt, std::nullopt, [&](parser::StepSample&& sample) {
    if (static_cast<std::int64_t>(samples.size()) == kAgreementStepsMax) {
      throw bad_request(fmt::format("This run holds more than {} steps: no agreement is computed.",
                                    kAgreementStepsMax));
    }
    std::erase_if(sample.extra_fields, [](const auto& field) {
      return field.first != parser::kStepTimeLineTflops &&
             field.first != parser::kStepTimeLineModelTflops && !parser::is_step_mark(field.first);
    });
    sample.logged_at = {};
    samples.push_back(std::move(sample));
  });
  return samples;
}

http::Body render_agreement(Context& context, storage::RunId id,
                            const std::optional<parser::AskedWindow>& asked,
                            const parser::StepInterruptionSet& without) {
  Json json;
  json["run_id"] = id;
  json.update(context.readers.with_reader([&](storage::Reader& reader) {
    const auto run = reader.run(id);
    if (!run) throw absent_run(reader, id);
    const auto samples = read_all_steps(reader, id);
    const auto window = asked.value_or(parser::AskedWindow{run->summary.window});
    const auto ours = report::judge_stored_run(reader, *run, samples, context.catalog(),
                                               {.window = window, .without = without})
                          .summary;
    return report::agreement_json(ours, parser::compute_agreement(samples, run->facts, ours));
  }));
  return {std::make_shared<const std::string>(to_text(json)), {}};
}

}  // namespace

http::Response get_run_agreement(Context& context, const http::Request& request) {
  const QueryParameters parameters(request, {"window", "without"});
  const storage::RunId id = id_parameter(request);
  const auto window = parameters.asked_window("window");
  const auto without = parameters.step_interruptions("without");
  const std::string etag = run_etag(context, id, "agreement?" + parameters.canonical());
  return tagged_response(etag,
                         [=, &context] { return render_agreement(context, id, window, without); });
}

}  // namespace llmb::api
