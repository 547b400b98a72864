#include "server/cli/commands.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "server/cli/exit_codes.h"
#include "server/cli/measuring_options.h"
#include "server/report/comparison_json.h"
#include "server/report/comparison_report.h"
#include "server/report/json.h"
#include "server/report/text_table.h"

namespace llmb::cli {
namespace {

constexpr const char* kCompareFooter = R"(Examples:
  llmb-report compare before.out after.out           one run against another
  llmb-report compare before/ after/                 all runs of one folder against the other's
  llmb-report compare --base a.out b.out --candidate c.out d.out
  llmb-report compare experiments                    every workload of a tree, group by group
  llmb-report compare --db runs.db 3 7               runs of a database, by id
  llmb-report compare --db runs.db --base 3 4 5 --candidate 7,8
  llmb-report compare --gpu-type gb200 --dtype fp8 experiments
  llmb-report compare --include profiled,failed experiments
  llmb-report compare --window 20-40 --format csv experiments > groups.csv
  llmb-report compare --format json a.out b.out | jq '.comparisons[].differences'

What is compared:
  Two things that are named are two sides, whatever they are; --base and --candidate name sides of
  several. Of anything else runs of one configuration are repeats and form a group. Every side is
  tested against the first one; the keys of the configuration in which they, or the runs of one,
  differ are listed, and no others. A side whose runs are not of one work (workload, window, global
  batch size …) cannot be compared. Folders of several scales and global batch sizes are compared
  scale by scale. Of a tree, or a whole database, runs of one workload and model size are compared
  with each other. Logs with the same bytes are one run. Each run also stands against the published
  result of the same recipe, scale, dtype and GPU, over the run's own window (its release may name
  another one than the document that the result is of) with every step, whatever --window and
  --without say: 1 is as published, over 1 is faster.

What a difference means:
  The means that are shown are those of runs. The test is on one value a run, the logarithm of its
  median over the window: a moderated t, whose deviation is that of the runs at hand and that of
  other runs together, so that one run against one has an answer. What other runs deviate by is
  learnt from those of the tree or database: from repeats of the same configurations, about the
  levels that they had, and from other configurations of the workload; public runs stand for these
  where there are too few.
  Iterations are never tested: they share nodes and neighbours, and would call equal runs different.
  Where the means say otherwise than the medians, for many steps are slow, the verdict is that they
  disagree. Beside it stand the interval, whether the sides are equivalent within 1 %, the smallest
  difference that would have been seen, and how many more runs would decide.

What is left out, unless --include asks for it:
  profiled, traced, function_check, proxy, on_cpu, implausible, running, incomplete, failed,
  invalid, superseded (or all).
  Each says why. A run without a step time in its window is always left out.

Exit status: 0 when a group could be formed and, of sides that were named, both count in every
table, whatever the verdicts say, not_comparable included; 1 when not, 2 for bad arguments.)";

std::string title_of(const parser::ComparedRun& run) {
  const parser::RecipeMatch& match = run.judgement.match;
  if (match.workload != nullptr && match.model != nullptr) {
    return match.workload->workload + " " + match.model->shape.size;
  }
  const auto workload = run.configuration.value("workload");
  if (!workload) return run.experiment;
  return *workload + " " + run.configuration.value("model_size").value_or("");
}

struct SideSet {
  report::ComparedSet set;
  std::vector<std::size_t> sides;
};

// Of two folders only what is one configuration but for what was changed can be set side by side:
// runs of one scale and global batch size. Windows may differ, for one can be asked for.
class Scales {
 public:
  // `measured` has sides. What is left out anyway makes no scale of its own, nor does a copy
  // (`originals`: originals_of() its runs).
  Scales(const report::MeasuredRuns& measured, const std::vector<std::size_t>& originals,
         const parser::RunMarkSet& included) {
    std::vector<std::size_t> counting;
    for (std::size_t i = 0; i < measured.runs.size(); ++i) {
      const parser::ComparedRun& run = measured.runs[originals[i]];
      if (!parser::exclusion_reason(parser::marks_of(run), included).empty()) continue;
      counting.push_back(i);
      const auto batch = parser::global_batch_size_of(run);
      if (batch) batches_[without_batch(run)].insert(*batch);
    }
    for (const std::size_t i : counting) {
      of_side_[measured.sides[i]].insert(of(measured.runs[originals[i]]));
    }
  }

  bool has_one_a_side() const {
    return std::all_of(of_side_.begin(), of_side_.end(),
                       [](const auto& side) { return side.second.size() == 1; });
  }

  std::string of(const parser::ComparedRun& run) const {
    std::string scale = without_batch(run);
    const auto known = batches_.find(scale);
    if (known == batches_.end() || known->second.size() < 2) return scale;
    const auto batch = parser::global_batch_size_of(run);
    return fmt::format("{}, global batch {}", scale, batch ? std::to_string(*batch) : "not known");
  }

 private:
  static std::string without_batch(const parser::ComparedRun& run) {
    const parser::RunIdentity identity = parser::identity_of(run);
    return fmt::format("{} {} {} {} {}", identity.workload, identity.model_size, identity.dtype,
                       identity.gpu_type, identity.gpu_count.value_or(0));
  }

  std::map<std::string, std::set<std::int64_t>> batches_;  // by scale
  std::map<std::size_t, std::set<std::string>> of_side_;
};

// Runs that were named for themselves are one set, whatever they are. A copy stands with the run
// that counts for it, whatever it says of itself.
std::vector<SideSet> make_sets(report::MeasuredRuns measured, const parser::RunMarkSet& included) {
  const std::vector<std::size_t> originals = parser::originals_of(measured.runs);
  std::optional<Scales> scales;
  if (!measured.is_chosen && !measured.sides.empty()) scales.emplace(measured, originals, included);
  const bool is_one = measured.is_chosen || (scales && scales->has_one_a_side());
  std::vector<std::string> titles;
  titles.reserve(originals.size());
  for (const std::size_t original : originals) {
    const parser::ComparedRun& run = measured.runs[original];
    titles.push_back(scales && !is_one ? scales->of(run) : title_of(run));
  }
  std::vector<SideSet> sets;
  for (std::size_t i = 0; i < measured.runs.size(); ++i) {
    auto found = std::find_if(sets.begin(), sets.end(), [&](const SideSet& candidate) {
      return is_one || candidate.set.title == titles[i];
    });
    if (found == sets.end()) found = sets.insert(sets.end(), SideSet{{titles[i], {}, {}}, {}});
    found->set.runs.push_back(std::move(measured.runs[i]));
    if (!measured.sides.empty()) found->sides.push_back(measured.sides[i]);
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

struct CompareArguments : MeasuringArguments {
  parser::RunSelection selection;
};

// Of sides that were named all have to be there, at each scale of two folders, or a script takes
// nothing for no difference. Verdicts have no part in it: they are told.
int status_of(const std::vector<report::ComparedSet>& sets) {
  const bool has_group = std::any_of(
      sets.begin(), sets.end(), [](const auto& set) { return !set.comparison.groups.empty(); });
  int status = has_group ? 0 : kFailed;
  for (const report::ComparedSet& set : sets) {
    for (const parser::MissingSide& side : set.comparison.missing_sides) {
      status = kFailed;
      std::cerr << "llmb-report compare: "
                << (sets.size() > 1 ? report::printable(set.title) + ": " : std::string())
                << report::printable(side.reason) << '\n';
    }
  }
  return status;
}

int compare(report::MeasuredRuns measured, const parser::RunMarkSet& included,
            const std::string& format) {
  parser::ComparisonOptions options;
  options.included = included;
  options.side_names = std::move(measured.side_names);
  options.noise_runs = std::move(measured.noise_runs);
  options.published_noise_runs = std::move(measured.published_noise_runs);
  std::vector<report::ComparedSet> sets;
  for (SideSet& part : make_sets(std::move(measured), included)) {
    options.sides = std::move(part.sides);
    part.set.comparison = parser::compare_runs(part.set.runs, options);
    sets.push_back(std::move(part.set));
  }
  if (format == "json") {
    write_json(sets);
  } else if (format == "csv") {
    report::write_comparison_csv(sets, std::cout);
  } else {
    report::write_comparison_table(sets, std::cout);
  }
  return status_of(sets);
}

}  // namespace

void add_compare_command(CLI::App& app, int& exit_code) {
  CLI::App* const command = app.add_subcommand(
      "compare", "Runs side by side: repeats, configurations, and published results");
  command->footer(kCompareFooter);
  const auto arguments = std::make_shared<CompareArguments>();
  arguments->two_are_sides = true;
  add_selection_options(*command, arguments->selection);
  add_gpu_count_option(*command, arguments->selection);
  add_measuring_options(*command, *arguments);
  command->add_option("--base", arguments->base, "The side that the other is compared with")
      ->type_name("DIR|FILE|ID");
  command->add_option("--candidate", arguments->candidate, "The other side")
      ->type_name("DIR|FILE|ID");
  command->callback([command, arguments, &exit_code] {
    exit_code = report_measured_runs(
        *command, *arguments,
        [&](const parser::Catalog& catalog, report::MeasuredRuns measured,
            const parser::RunMarkSet& included) {
          const auto selection = parser::by_catalog_names(catalog, arguments->selection);
          const std::string unsaid_gpu = unsaid_gpu_words(measured, selection);
          report::keep_runs(measured, [&](const parser::ComparedRun& run) {
            return parser::is_selected(parser::identity_of(run), selection);
          });
          if (measured.runs.empty()) {
            std::cerr << "llmb-report compare: no run is of what was asked for" << unsaid_gpu
                      << '\n';
            return kFailed;
          }
          return compare(std::move(measured), included, arguments->format);
        });
  });
}

}  // namespace llmb::cli
