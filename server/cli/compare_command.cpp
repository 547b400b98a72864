#include "server/cli/commands.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <memory>

#include "server/cli/measuring_options.h"
#include "server/report/comparison_json.h"
#include "server/report/comparison_report.h"
#include "server/report/json.h"

namespace llmb::cli {
namespace {

constexpr const char* kFooter = R"(Examples:
  llmb-report compare experiments                    every workload of a tree, group by group
  llmb-report compare before.out after.out           one run against another
  llmb-report compare --db runs.db 3 7 8             runs of a database, by id
  llmb-report compare --include profiled,failed experiments
  llmb-report compare --window 20-40 --format csv experiments > groups.csv
  llmb-report compare --format json a.out b.out | jq '.comparisons[].differences'

What is compared:
  Runs of one configuration are repeats and form a group. Every group is tested against group 0,
  that of the first run; the keys of the configuration in which groups differ are listed, and no
  others. Of a tree, or a whole database, runs of one workload and model size are compared with
  each other. Each run also stands against the published result of the same recipe, scale, dtype
  and GPU, over the window of its document: 1 is as published, over 1 is faster.

What a difference means:
  One value is the mean of one run. Intervals are Student's t, tests are Welch's, on run means.
  Iterations are never tested: they share nodes and neighbours, and would call equal runs
  different. With one run a side the difference cannot be told from run-to-run noise; one run
  against several is tested against the deviation of the several.

What is left out, unless --include asks for it:
  profiled, traced, function_check, proxy, on_cpu, running, incomplete, failed, invalid,
  superseded (or all).
  Each says why. A run without a step time in its window is always left out.

Exit status: 0 when a group could be formed, 1 when none could, 2 for bad arguments.)";

std::string title_of(const parser::ComparedRun& run) {
  const parser::RecipeMatch& match = run.judgement.match;
  if (match.workload != nullptr && match.model != nullptr) {
    return match.workload->workload + " " + match.model->shape.size;
  }
  const auto workload = run.configuration.value("workload");
  if (!workload) return run.experiment;
  return *workload + " " + run.configuration.value("model_size").value_or("");
}

// Runs that were named for themselves are one set, whatever they are.
std::vector<report::ComparedSet> make_sets(report::MeasuredRuns measured) {
  std::vector<report::ComparedSet> sets;
  for (parser::ComparedRun& run : measured.runs) {
    const std::string title = title_of(run);
    auto set = std::find_if(sets.begin(), sets.end(), [&](const report::ComparedSet& candidate) {
      return measured.is_chosen || candidate.title == title;
    });
    if (set == sets.end()) set = sets.insert(sets.end(), report::ComparedSet{title, {}, {}});
    set->runs.push_back(std::move(run));
  }
  return sets;
}

void write_json(const std::vector<report::ComparedSet>& sets) {
  report::Json document = {{"format", "llmb-report compare"}, {"version", 1}};
  document["comparisons"] = report::Json::array();
  for (const report::ComparedSet& set : sets) {
    report::Json json = {{"title", set.title}};
    json.update(report::comparison_json(set.runs, set.comparison));
    document["comparisons"].push_back(std::move(json));
  }
  std::cout << document.dump(1, ' ', false, report::Json::error_handler_t::replace) << '\n';
}

int compare(report::MeasuredRuns measured, const parser::RunMarkSet& included,
            const std::string& format) {
  std::vector<report::ComparedSet> sets = make_sets(std::move(measured));
  bool has_group = false;
  for (report::ComparedSet& set : sets) {
    set.comparison = parser::compare_runs(set.runs, included);
    has_group = has_group || !set.comparison.groups.empty();
  }
  if (format == "json") {
    write_json(sets);
  } else if (format == "csv") {
    report::write_comparison_csv(sets, std::cout);
  } else {
    report::write_comparison_table(sets, std::cout);
  }
  return std::cout.flush() && has_group ? 0 : 1;
}

}  // namespace

void add_compare_command(CLI::App& app, int& exit_code) {
  CLI::App* const command = app.add_subcommand(
      "compare", "Runs side by side: repeats, configurations, and published results");
  command->footer(kFooter);
  const auto arguments = std::make_shared<MeasuringArguments>();
  add_measuring_options(*command, *arguments);
  command->callback([command, arguments, &exit_code] {
    exit_code =
        report_measured_runs(*command, *arguments,
                             [&](const parser::Catalog&, report::MeasuredRuns measured,
                                 const parser::RunMarkSet& included) {
                               return compare(std::move(measured), included, arguments->format);
                             });
  });
}

}  // namespace llmb::cli
