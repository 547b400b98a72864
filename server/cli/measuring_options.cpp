#include "server/cli/measuring_options.h"

#include <CLI/CLI.hpp>
#include <iostream>
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
}

}  // namespace

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
  command.add_option("--gpu-type", selection.gpu_type, "Only this GPU type")->type_name("GPU");
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
  return report(**catalog, std::move(*measured), included);
}

}  // namespace llmb::cli
