// GET /api/v1/compare?runs=1,2,… or ?base=1,2&candidate=3,4;5: up to eight runs side by side. Two
// runs are two sides, more are grouped by configuration, or stand on the sides that were named;
// every side stands against the first one and against the published result.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

#include "server/api/json.h"
#include "server/api/query_parameters.h"
#include "server/api/request_error.h"
#include "server/api/resources.h"
#include "server/api/run_lookup.h"
#include "server/api/tagged_response.h"
#include "server/report/comparison_json.h"
#include "server/report/stored_runs.h"

namespace llmb::api {
namespace {

constexpr std::size_t kComparedRunsMax = 8;

std::vector<storage::RunId> read_run_ids(const std::string& name, const std::string& text) {
  std::vector<storage::RunId> ids;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (true) {
    storage::RunId id = 0;
    const auto [stop, error] = std::from_chars(at, end, id);
    if (error != std::errc() || id < 1 || (stop != end && *stop != ',')) {
      throw bad_request(
          fmt::format("Parameter '{}' is '{}'; it has to be run ids, whole numbers from 1, "
                      "separated by commas.",
                      name, text));
    }
    if (std::find(ids.begin(), ids.end(), id) != ids.end()) {
      throw bad_request(fmt::format("Parameter '{}' names run {} more than once.", name, id));
    }
    ids.push_back(id);
    if (stop == end) return ids;
    at = stop + 1;
  }
}

struct Question {
  std::vector<storage::RunId> ids;
  std::optional<parser::AskedWindow> window;
  parser::StepInterruptionSet without;
  parser::ComparisonOptions options;
};

void check_count(const std::vector<storage::RunId>& ids) {
  if (ids.size() <= kComparedRunsMax) return;
  throw bad_request(
      fmt::format("More than {} runs are named; compare fewer, or use `llmb-report compare`, which "
                  "has no limit.",
                  kComparedRunsMax));
}

// `candidate`: one side, or several with a semicolon between them.
void add_candidates(Question& question, const std::string& text) {
  const auto count = static_cast<std::size_t>(std::count(text.begin(), text.end(), ';') + 1);
  question.options.side_names = {"base"};
  std::size_t begin = 0;
  for (std::size_t side = 1; side <= count; ++side) {
    const std::size_t end = std::min(text.find(';', begin), text.size());
    for (const storage::RunId id : read_run_ids("candidate", text.substr(begin, end - begin))) {
      if (std::find(question.ids.begin(), question.ids.end(), id) != question.ids.end()) {
        throw bad_request(fmt::format("Run {} is on two sides.", id));
      }
      question.ids.push_back(id);
      question.options.sides.push_back(side);
    }
    question.options.side_names.push_back(count == 1 ? "candidate"
                                                     : fmt::format("candidate {}", side));
    begin = end + 1;
  }
}

// Two runs are two sides; `base` and `candidate` name sides of any size; more runs are grouped.
Question read_question(const QueryParameters& parameters) {
  Question question;
  question.window = parameters.asked_window("window");
  question.without = parameters.step_interruptions("without");
  question.options.included = parameters.run_marks("include");
  const auto runs = parameters.text("runs");
  const auto base = parameters.text("base");
  const auto candidate = parameters.text("candidate");
  if (runs && !base && !candidate) {
    question.ids = read_run_ids("runs", *runs);
    if (question.ids.size() == 2) question.options.sides = {0, 1};
    check_count(question.ids);
    return question;
  }
  if (runs || !base || !candidate) {
    throw bad_request(
        "Give either 'runs', up to 8 run ids separated by commas (runs=3,7,8), or both 'base' and "
        "'candidate', each such a list; of 'candidate' several with a semicolon between them.");
  }
  question.ids = read_run_ids("base", *base);
  question.options.sides.assign(question.ids.size(), 0);
  add_candidates(question, *candidate);
  check_count(question.ids);
  return question;
}

http::Body render_comparison(Context& context, Question question) {
  const auto runs = context.readers.with_reader([&](storage::Reader& reader) {
    std::vector<parser::ComparedRun> measured;
    for (const storage::RunId id : question.ids) {
      const auto run = reader.run(id);
      if (!run) throw absent_run(reader, id);
      auto compared = report::measure_stored_run(reader, *run, context.catalog(), question.window,
                                                 question.without);
      if (!compared) throw bad_request(fmt::format("Run {}: {}", id, compared.error().message));
      measured.push_back(std::move(*compared));
    }
    parser::name_clusters(measured, reader.tree_clusters());
    question.options.noise_runs =
        report::own_window_noise_runs(reader, context.catalog(), measured.front());
    question.options.published_noise_runs = question.options.noise_runs;
    return measured;
  });
  const auto comparison = parser::compare_runs(runs, question.options);
  return {std::make_shared<const std::string>(to_text(report::comparison_json(runs, comparison))),
          {}};
}

}  // namespace

http::Response get_comparison(Context& context, const http::Request& request) {
  const QueryParameters parameters(request,
                                   {"runs", "base", "candidate", "window", "without", "include"});
  const Question question = read_question(parameters);
  context.readers.with_reader([&](storage::Reader& reader) {
    for (const storage::RunId id : question.ids) {
      if (!reader.run_revision(id)) throw absent_run(reader, id);
    }
    return true;
  });
  // The noise between runs is learnt from all of them: any change may change the answer.
  return tagged_response(list_etag(context, request, parameters),
                         [=, &context] { return render_comparison(context, question); });
}

}  // namespace llmb::api
