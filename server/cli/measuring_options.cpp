#include "server/cli/measuring_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <set>
#include <utility>

#include "server/cli/catalog_option.h"
#include "server/cli/default_folders.h"
#include "server/cli/exit_codes.h"
#include "server/cli/run_options.h"

namespace llmb::cli {
namespace {

bool names_nothing(const MeasuringArguments& arguments) {
  return arguments.names.empty() && arguments.base.empty() && arguments.candidate.empty() &&
         arguments.database.empty();
}

// Of a database, whose names are ids.
void check_sides(const MeasuringArguments& arguments) {
  std::vector<std::string> base = arguments.base;
  std::vector<std::string> candidate = arguments.candidate;
  if (arguments.two_are_sides && arguments.names.size() == 2) {
    base = {arguments.names[0]};
    candidate = {arguments.names[1]};
  }
  const auto of_base = report::read_run_ids(base);
  const auto of_candidate = report::read_run_ids(candidate);
  for (const std::int64_t id : *of_base) {
    if (std::ranges::find(*of_candidate, id) == of_candidate->end()) continue;
    throw CLI::ValidationError("ID", fmt::format("run {} is on both sides", id));
  }
}

void check_names(const MeasuringArguments& arguments) {
  const bool has_sides = !arguments.base.empty() || !arguments.candidate.empty();
  if (has_sides && (arguments.base.empty() || arguments.candidate.empty())) {
    throw CLI::RequiredError(arguments.base.empty() ? "--base" : "--candidate");
  }
  if (has_sides && !arguments.names.empty()) {
    throw CLI::ValidationError("--base",
                               "what is compared is named by --base and --candidate, or "
                               "without them, but not both ways");
  }
  if (arguments.database.empty()) return;
  for (const auto* const names : {&arguments.names, &arguments.base, &arguments.candidate}) {
    const auto ids = report::read_run_ids(*names);
    if (!ids) throw CLI::ValidationError("ID", ids.error().message);
  }
  check_sides(arguments);
}

// Leaves out the others; says why there would be none. An empty release is every one.
std::string keep_release(const std::string& release, report::MeasuredRuns& measured) {
  if (release.empty()) return "";
  std::set<std::string> known;
  for (const parser::ComparedRun& run : measured.runs) {
    if (const auto own = run.configuration.value("release")) known.insert(*own);
  }
  if (!known.contains(release)) {
    std::string text = fmt::format("no run names the release '{}'", release);
    if (!known.empty()) text += fmt::format("; they are of: {}", fmt::join(known, ", "));
    return text;
  }
  report::keep_runs(measured, [&](const parser::ComparedRun& run) {
    return run.configuration.value("release") == release;
  });
  return "";
}

}  // namespace

std::string unsaid_gpu_words(const report::MeasuredRuns& measured,
                             const parser::RunSelection& selection) {
  if (!selection.gpu_type) return "";
  const auto count = std::ranges::count_if(measured.runs, [](const parser::ComparedRun& run) {
    return parser::identity_of(run).gpu_type.empty();
  });
  if (count == 0) return "";
  return fmt::format(
      "; of {} no GPU type is known, which this --gpu-type does not tell: that of 'ingest' does, "
      "for --db, and an llmb-config",
      count == 1 ? "one run" : fmt::format("{} runs", count));
}

void add_measuring_options(CLI::App& command, MeasuringArguments& arguments) {
  command
      .add_option("--db", arguments.database,
                  "A database of runs, a file or postgresql://…; names are then run ids")
      ->type_name("FILE|URL");
  command.add_option("--format", arguments.format, "table, csv or json")
      ->check(CLI::IsMember({"table", "csv", "json"}))
      ->capture_default_str();
  command
      .add_option("--cluster", arguments.cluster,
                  "Only runs of this cluster; one that names none is of its tree's")
      ->type_name("NAME");
  command
      .add_option("--release", arguments.release,
                  "Only runs that name this release of the recipes, as 25.08")
      ->type_name("RELEASE");
  add_window_option(command, arguments.window);
  add_without_option(command, arguments.without);
  add_include_option(command, arguments.include);
  add_catalog_option(command, arguments.catalog_file);
  command
      .add_option(
          "names", arguments.names,
          "Folders and logs, or run ids with --db; where nothing says what, the folders that "
          "'parse' reads without a PATH ($LLMB_WORKLOAD)")
      ->type_name("DIR|FILE|ID");
}

void add_selection_options(CLI::App& command, parser::RunSelection& selection) {
  command.add_option("--workload", selection.workload, "Only this workload")->type_name("NAME");
  command.add_option("--model-size", selection.model_size, "Only this model size")
      ->type_name("SIZE");
  command.add_option("--dtype", selection.dtype, "Only this dtype: fp8 is fp8_cs too")
      ->type_name("DTYPE");
  command
      .add_option(
          "--gpu-type", selection.gpu_type,
          "Only runs known to be of this GPU type (for logs that say none, 'ingest --gpu-type' "
          "tells it)")
      ->type_name("GPU");
}

void add_gpu_count_option(CLI::App& command, parser::RunSelection& selection) {
  command.add_option("--gpu-count", selection.gpu_count, "Only this number of GPUs")
      ->type_name("N");
}

int report_measured_runs(const CLI::App& command, MeasuringArguments arguments,
                         const RunsReport& report) {
  check_names(arguments);
  const auto say = [&](const std::string& message) {
    std::cerr << "llmb-report " << command.get_name() << ": " << message << '\n';
  };
  if (names_nothing(arguments)) {
    arguments.names = default_folders(command.get_name(), "folders, logs or --db FILE");
    arguments.two_are_sides = false;  // nobody chose two
    if (arguments.names.empty()) return kBadArguments;
  }
  const auto catalog = read_catalog(arguments.catalog_file);
  if (!catalog) {
    say(catalog.error().message);
    return kBadArguments;
  }
  const parser::RunMarkSet included = parser::parse_run_marks(arguments.include).value();
  report::RunSource source{arguments.database,
                           arguments.names,
                           arguments.two_are_sides,
                           arguments.base,
                           arguments.candidate,
                           arguments.cluster,
                           std::nullopt,
                           parser::parse_step_interruptions(arguments.without).value(),
                           included.contains(parser::RunMark::superseded)};
  if (!arguments.window.empty()) {
    source.window = parser::parse_asked_window(arguments.window).value();
  }
  auto measured = report::measure_runs(source, **catalog);
  if (!measured) {
    say(measured.error().message);
    return kFailed;
  }
  if (const std::string refusal = keep_release(arguments.release, *measured); !refusal.empty()) {
    say(refusal);
    return kFailed;
  }
  return report(**catalog, std::move(*measured), included);
}

}  // namespace llmb::cli
