#include "parser/statistics/history_run.h"

#include <string_view>
#include <utility>

namespace llmb::parser {
namespace {

std::string value_of(const ComparedRun& run, std::string_view key) {
  return run.configuration.value(key).value_or("");
}

HistoryConfiguration make_configuration(const ComparedRun& run,
                                        const std::vector<RunMarkReason>& marks) {
  const RecipeMatch& match = run.judgement.match;
  HistoryConfiguration made;
  made.workload = workload_of(run);
  made.model_size = model_size_of(run);
  made.dtype = match.dtype.empty() ? value_of(run, "dtype") : match.dtype;
  made.gpu_type = match.gpu_type.empty() ? value_of(run, "gpu_type") : match.gpu_type;
  made.gpu_count = match.gpu_count ? std::to_string(*match.gpu_count) : value_of(run, "gpu_count");
  made.global_batch_size = global_batch_size_of(run);
  made.window = to_string(run.judgement.summary.window);
  made.characteristics = characteristics_of(run, marks);
  return made;
}

std::string key_of(const HistoryConfiguration& configuration) {
  std::string key;
  const auto add = [&key](std::string_view part) { key.append(part).push_back('\n'); };
  for (const std::string* const text :
       {&configuration.workload, &configuration.model_size, &configuration.dtype,
        &configuration.gpu_type, &configuration.gpu_count, &configuration.window}) {
    add(*text);
  }
  const auto& batch = configuration.global_batch_size;
  add(batch ? std::to_string(*batch) : "-");
  for (const auto& [name, value] : configuration.characteristics) {
    add(name);
    add(value);
  }
  return key;
}

}  // namespace

std::shared_ptr<const HistoryRun> history_run(const ComparedRun& run,
                                              HistoryConfigurations& configurations) {
  HistoryRun made;
  made.id = run.id;
  made.experiment = run.experiment;
  made.job_id = run.job_id;
  made.cluster = run.cluster;
  made.launched_at = run.launched_at;
  made.content_key = run.content_key;
  made.marks = marks_of(run);
  HistoryConfiguration configuration = make_configuration(run, made.marks);
  made.configuration =
      configurations.of(key_of(configuration), [&] { return std::move(configuration); });
  made.step_time_s = run.judgement.summary.step_time_s;
  made.log_step_time_s = log_location_of(run, ComparedMetric::step_time_s);
  return std::make_shared<const HistoryRun>(std::move(made));
}

HistoryRuns history_runs(const std::vector<ComparedRun>& runs) {
  HistoryConfigurations configurations;
  HistoryRuns made;
  made.reserve(runs.size());
  for (const ComparedRun& run : runs) made.push_back(history_run(run, configurations));
  return made;
}

}  // namespace llmb::parser
