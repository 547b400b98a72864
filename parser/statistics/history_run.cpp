#include "parser/statistics/history_run.h"

#include <string_view>
#include <utility>

namespace llmb::parser {
namespace {

HistoryConfiguration make_configuration(const ComparedRun& run,
                                        const std::vector<RunMarkReason>& marks) {
  HistoryConfiguration made;
  made.identity = identity_of(run);
  made.global_batch_size = global_batch_size_of(run);
  made.window = to_string(run.judgement.summary.window);
  made.characteristics = characteristics_of(run, marks);
  made.characteristics.erase("cluster");  // a series is of one
  return made;
}

std::string key_of(const HistoryConfiguration& configuration) {
  std::string key;
  const auto add = [&key](std::string_view part) { key.append(part).push_back('\n'); };
  const RunIdentity& identity = configuration.identity;
  for (const std::string* const text : {&identity.workload, &identity.model_size, &identity.dtype,
                                        &identity.gpu_type, &configuration.window}) {
    add(*text);
  }
  const auto add_number = [&](const std::optional<std::int64_t>& number) {
    add(number ? std::to_string(*number) : "-");
  };
  add_number(identity.gpu_count);
  add_number(configuration.global_batch_size);
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
  made.path = run.path;
  made.tree = run.tree;
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
