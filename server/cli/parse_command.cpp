#include "server/cli/commands.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "parser/catalog/catalog.h"
#include "parser/dialect.h"
#include "parser/reader/log_reader.h"
#include "parser/step_interruption.h"
#include "parser/window.h"
#include "server/cli/catalog_option.h"
#include "server/cli/default_folders.h"
#include "server/cli/exit_codes.h"
#include "server/cli/run_options.h"
#include "server/compat/shell_parser.h"
#include "server/report/log_discovery.h"
#include "server/report/log_parsing.h"
#include "server/report/report.h"
#include "server/report/skipped_logs.h"

namespace llmb::cli {
namespace {

struct ParseArguments {
  std::vector<std::string> paths;
  std::string format = "table";
  std::string window;
  std::string without;
  bool has_full_names = false;
  bool has_samples = false;
  bool explains = false;
  std::string compat;
  bool has_metrics = false;
  std::string catalog_file;
  std::string gpu_type;
};

constexpr const char* kDescription =
    "Read training logs and say, for each, the mean step time over its window and whether it may "
    "be believed.";

constexpr std::string_view kParseExamples = R"(Examples:
  llmb-report parse                              every log of $LLMB_WORKLOAD, or in this folder
  llmb-report parse $LLMB_WORKLOAD/experiments log.txt
  llmb-report parse --window 35-44 --format csv runs/ > runs.csv
  llmb-report parse --without checkpoint,profile experiments
  llmb-report parse --compat mbridge@25.12 experiments
  llmb-report parse --metrics experiments        with tokens/s/GPU and MFU
  llmb-report parse --metrics --format json --catalog my-models.json experiments
  llmb-report parse --metrics --gpu-type h100 experiments    where neither log nor llmb-config says
  llmb-report parse --explain run.out            which lines were refused, and why
  kubectl logs trainer-0 | llmb-report parse -   what a pipe brings
  ssh login grep -rH train_step_timing runs/ | llmb-report parse -     each file that it names
  llmb-report parse --format json --samples run.out | jq '.runs[0].samples[].step_time_s'

What is read:
  Below a DIR, every *.out but sbatch_*.out and vboost*.out, and every *.out.gz, *.out.zst, *.out.xz
  and *.out.bz2 beside which no *.out lies; a FILE, a pipe, or - for stdin, whatever its name; of
  what names logs, before each line (grep -H) or above their lines (tail), a run of each. What gzip,
  zstd, xz or bzip2 compressed is unpacked; where it ends in the middle, or is damaged, it is read
  up to there, and stderr says so. Without either, what ingest and serve read: $LLMB_WORKLOAD, else
  $STAGE_PATH, else every folder in $LLMB_INSTALL/workloads; where none is set, experiments and
  results of this folder.
  What is skipped, and why, is on stderr. Told apart by what is in them, each with its own window:
)";

constexpr std::string_view kParseFooter = R"(
Windows:
  Iterations as the log counts them: NeMo from 0, Megatron from 1. Where the run is a recipe of the
  catalog, and names no other release: what the recipe's document makes its results of (the last
  step in those of 2024 and in nemotron4-25.04). Else what the release that the run names does
  (35-44 from 25.08 on), else the window of its program, as above. window_source in the json says
  which. --window A-B, or --window last for the last step of the last pass, says otherwise. A
  checkpoint, an evaluation or a profile inside the window is named beside the row's numbers;
  --without checkpoint,evaluation,profile leaves out the steps that it touches.

Status:
  complete    the whole window has step times, or rates where the program prints no times, and the
              last iteration was reached
  incomplete  it ended, or its log did, before that
  failed      the same, and a line of the log says why
  invalid     a loss is NaN or infinite, or a gradient norm is NaN and the steps behind it are not
              finite (else its step was skipped, which is harmless); or most gradient norms of the
              window are NaN or infinite
  no_data     no step in the log, or none with a time or a rate
  Beside it stand marks (profiled, traced, function_check, proxy, on_cpu, implausible): why a run is
  no performance result like others, to be left out of averages.
  A restart begins a new segment; the last segment that holds the whole window counts.
  One look does not tell whether a log's job lives: what is there counts as its end. Of a failure
  that no launcher or scheduler follows, status_reason says that a job that lives may go on; the
  server, which sees logs grow, calls such a run running until it falls silent, and hung where
  nothing tells of an end. A copied file's own time says nothing of that.

Compatibility:
  --compat nemo[@RELEASE] prints, to the byte, what parse_train_timing.sh of that release prints
  for one DIR, and exits as it does; --compat mbridge[@RELEASE] is parse_train_timing_mbridge.sh.
  Their faults come with them (a crash after the window is a success, for one): without --compat
  the numbers are llmb-report's own. Rows are in path order.

JSON: one object with
  format, version   "llmb-report parse", 2
  counts            logs, skipped, and one number for each status
  runs              a list ordered by path: path, experiment, job_id, dialect, status,
                    status_reason, window, window_source, step_time_s_mean, tflops_per_gpu_mean
                    (and _count, _stddev_population, _stddev_sample, _median, _min, _max, _p95),
                    segments, events, configuration (every value with its source), and more: the
                    words of the API's runs; read_in_part: why a compressed log was not read to
                    its end
  skipped           a list of path and reason
  With --metrics each run has run_metrics: the recipe it is (or what disagrees), tokens/s, days to
  train 1T tokens and MFU, each with formula, inputs and their sources, and the published result.
  With --explain each run has refused_lines: the lines that looked like a step, or like another line
  that is wanted, and could not be read, by reason, each with its count and up to three samples.
  With --samples each run has samples: every logged step, with the fields that its line had.
  What is not known is null. server/report/parse_output.schema.json is its JSON Schema.

Exit status: 0 when at least one run is complete and every PATH could be read, 1 when not, 2 for
bad arguments.)";

// "  Megatron-Bridge 35-44", a line each.
std::string dialect_windows() {
  std::string text;
  for (const parser::DialectTraits& dialect : parser::dialects()) {
    if (!parser::is_read(dialect.dialect)) continue;
    text +=
        fmt::format("    {:<20}{}-{}\n", dialect.title, dialect.window_first, dialect.window_last);
  }
  return text;
}

std::string check_release(const std::string& text) {
  const auto release = compat::find_release(text);
  return release ? std::string() : release.error().message;
}

void count_left_out_by_design(const report::LogReport& report) {
  const auto by_design = std::ranges::count(report.skipped, report::SkippedFile::Kind::by_design,
                                            &report::SkippedFile::kind);
  if (by_design > 0) {
    std::cerr << "llmb-report: skipped " << by_design << (by_design == 1 ? " file" : " files")
              << " that no training log is by its name (sbatch_*.out, vboost*.out)\n";
  }
}

bool lacks_a_named_one(const report::LogReport& report, const std::vector<std::string>& paths) {
  return std::ranges::any_of(report.skipped, [&](const report::SkippedFile& file) {
    return file.kind == report::SkippedFile::Kind::problem &&
           std::ranges::find(paths, file.path) != paths.end();
  });
}

bool wants_colour() {
  const char* terminal = std::getenv("TERM");
  const char* no_colour = std::getenv("NO_COLOR");
  return isatty(STDOUT_FILENO) != 0 && (no_colour == nullptr || *no_colour == '\0') &&
         terminal != nullptr && std::strcmp(terminal, "dumb") != 0;
}

void write_report(const report::LogReport& report, const ParseArguments& arguments) {
  if (arguments.format == "json") {
    report::write_json(report, std::cout);
  } else if (arguments.format == "csv") {
    report::write_csv(report, std::cout);
  } else if (!report.runs.empty()) {
    report::write_table(report, {arguments.has_full_names, wants_colour()}, std::cout);
  }
}

// Only the shell parsers' own options mean something to them.
int run_compat(const ParseArguments& arguments) {
  if (arguments.paths.size() > 1) {
    throw CLI::ValidationError("--compat", "takes one DIR, as the shell parsers do");
  }
  if (!arguments.window.empty()) {
    throw CLI::ValidationError("--compat", "has its release's own window: leave --window out");
  }
  compat::Options options;
  options.release = compat::find_release(arguments.compat).value();
  if (arguments.format == "csv") options.format = compat::Format::csv;
  if (arguments.format == "json") options.format = compat::Format::json;
  options.full_names = arguments.has_full_names;
  if (!arguments.paths.empty()) options.folder = arguments.paths.front();
  return compat::run(options, std::cout, std::cerr);
}

int run_parse(ParseArguments arguments) {
  if (arguments.paths.empty()) {
    arguments.paths = default_folders("parse", "a folder or a log");
    if (arguments.paths.empty()) return kFailed;
  }
  report::ParsingOptions options;
  if (!arguments.window.empty()) {
    options.window = parser::parse_asked_window(arguments.window).value();
  }
  options.without = parser::parse_step_interruptions(arguments.without).value();
  options.keeps_samples = arguments.has_samples;
  options.seeks_insight = arguments.format == "json";
  options.keeps_refusals = arguments.explains;
  if (arguments.has_metrics) options.tokens_to_train = parser::kTokensToTrainDefault;
  std::shared_ptr<const parser::Catalog> catalog;
  if (arguments.has_metrics || !arguments.catalog_file.empty()) {
    auto read = read_catalog(arguments.catalog_file);
    if (!read) {
      std::cerr << "llmb-report parse: " << read.error().message << '\n';
      return kBadArguments;
    }
    catalog = std::move(*read);
    options.catalog = catalog.get();
  }
  options.gpu_type = arguments.gpu_type;
  if (const auto known = check_gpu_type(catalog.get(), options.gpu_type); !known) {
    std::cerr << "llmb-report parse: " << known.error().message << '\n';
    return kBadArguments;
  }

  // What the first reader has to build first is built while the folders are walked.
  std::jthread tables([] {
    const parser::LogReader reader;
    parser::embedded_recipes(parser::RecipeExtent::documents);
  });
  report::LogReport report = report::parse_logs(report::discover_logs(arguments.paths), options);
  // A link inside one tree that is itself another.
  std::erase_if(report.skipped, [&](const report::SkippedFile& file) {
    std::error_code error;
    const auto& paths = arguments.paths;
    return file.reason == report::kLinkIsNotFollowed &&
           std::find(paths.begin(), paths.end(), file.path) != paths.end() &&
           std::filesystem::is_directory(file.path, error);
  });
  report::tell_skipped(report, std::cerr);
  count_left_out_by_design(report);
  if (report.runs.empty()) {
    std::cerr << "llmb-report: " << report::no_log_text(arguments.paths, report.others) << '\n';
  }
  write_report(report, arguments);
  const bool is_whole = !lacks_a_named_one(report, arguments.paths);
  return is_whole && report.count(parser::RunStatus::complete) > 0 ? 0 : kFailed;
}

// Throws CLI::ValidationError for what the shell parsers do not know.
void refuse_beside_compat(const ParseArguments& arguments) {
  if (arguments.compat.empty()) return;
  const auto refuse = [](bool is_given, const char* option, const char* why) {
    if (is_given) throw CLI::ValidationError(option, why);
  };
  constexpr const char* kUnknown = "means nothing to the shell parsers of --compat";
  refuse(arguments.explains, "--explain", kUnknown);
  refuse(arguments.has_metrics, "--metrics", kUnknown);
  refuse(!arguments.catalog_file.empty(), "--catalog", kUnknown);
  refuse(!arguments.gpu_type.empty(), "--gpu-type", kUnknown);
  refuse(!arguments.without.empty(), "--without", kUnknown);
  refuse(arguments.has_samples, "--samples",
         "goes with the json of parse itself, not with --compat");
}

}  // namespace

void add_parse_command(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("parse", kDescription);
  command->footer(fmt::format("{}{}{}", kParseExamples, dialect_windows(), kParseFooter));
  const auto arguments = std::make_shared<ParseArguments>();
  command->add_option("--format", arguments->format, "table, csv or json")
      ->check(CLI::IsMember({"table", "csv", "json"}))
      ->capture_default_str();
  command->add_flag("--full-names", arguments->has_full_names,
                    "Show each log's path in the table, not its experiment and job");
  add_window_option(*command, arguments->window);
  add_without_option(*command, arguments->without);
  CLI::Option* samples =
      command->add_flag("--samples", arguments->has_samples, "Add every logged step to the json");
  std::string releases;
  for (const std::string& name : compat::release_names()) {
    releases += (releases.empty() ? "" : ", ") + name;
  }
  command
      ->add_option(
          "--compat", arguments->compat,
          "Print what a release's shell parser prints: nemo, mbridge, or one of " + releases)
      ->check(check_release)
      ->type_name("RELEASE");
  command->add_flag("--metrics", arguments->has_metrics,
                    "Add tokens/s, days to train and MFU; in json the recipe too");
  command->add_flag("--explain", arguments->explains,
                    "Add which lines looked like a step but could not be read, and why");
  add_catalog_option(*command, arguments->catalog_file);
  add_left_open_gpu_option(*command, arguments->gpu_type);
  command->add_option("paths", arguments->paths, "Folders and logs to read; - for stdin")
      ->type_name("DIR|FILE|-");
  command->callback([arguments, samples, &exit_code] {
    if (arguments->has_samples && arguments->format != "json") {
      throw CLI::ValidationError(samples->get_name(), "needs --format json");
    }
    if (arguments->explains && arguments->format == "csv") {
      throw CLI::ValidationError("--explain", "needs --format table or json");
    }
    refuse_beside_compat(*arguments);
    exit_code = arguments->compat.empty() ? run_parse(*arguments) : run_compat(*arguments);
  });
}

}  // namespace llmb::cli
