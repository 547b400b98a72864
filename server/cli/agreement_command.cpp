#include "server/cli/commands.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>
#include <memory>

#include "server/cli/default_folders.h"
#include "server/cli/exit_codes.h"
#include "server/cli/run_options.h"
#include "server/report/agreement_json.h"
#include "server/report/json.h"
#include "server/report/log_discovery.h"
#include "server/report/log_parsing.h"
#include "server/report/skipped_logs.h"
#include "server/report/text_table.h"

namespace llmb::cli {
namespace {

constexpr const char* kAgreementFooter = R"(Examples:
  llmb-report agreement log-pretrain_grok1_314b_fp8_cs_gpus256_1234_0.out
  llmb-report agreement --window 35-44 experiments
  llmb-report agreement --format json a.out | jq '.runs[].tools[] | select(.gives_result)'

What is shown:
  One row for each release of each tool that reads such logs: the recipes' two shell parsers,
  llmb-run, cloudai's reports, a spreadsheet of last steps, and what users' own scripts take
  (iterations 11 to 44 or 35 to 44, the last 10 steps, all but the first 5 or 10 %, steps 2 to 6,
  the first 60). Window, deviation, mean, and by how
  much its mean differs from ours, in per cent, with the reason. Times are in seconds, also for
  tools that print milliseconds. The json has every tool, those included that cannot read the log.

  Results are told from the steps: --compat of the parse command reproduces the two shell parsers
  to the byte, file names and broken lines included.

Exit status: 0 when a log could be read, 1 when none could, 2 for bad arguments.)";

struct AgreementArguments {
  std::vector<std::string> names;
  std::string format = "table";
  std::string window;
};

std::string fixed_or_dash(const std::optional<double>& value, int decimals) {
  return value ? report::fixed(*value, decimals) : "-";
}

std::vector<parser::ToolResult> compare_tools(const report::ReportedRun& run) {
  return parser::compute_agreement(run.samples, run.facts, run.judgement.summary);
}

void write_run(const report::ReportedRun& run) {
  const auto& ours = run.judgement.summary;
  std::cout << report::printable(run.path) << " (" << parser::dialect_name(run.facts.dialect)
            << ", " << parser::run_status_name(ours.status) << ")\n";
  report::TextTable table({"tool", "release", "window", ">steps", ">mean s", ">std s", "std by",
                           ">TFLOPS", ">vs ours %", "why"});
  std::optional<double> mean_s;
  std::optional<double> deviation_s;
  std::optional<double> tflops;
  if (ours.step_time_s) {
    mean_s = ours.step_time_s->mean;
    // As `parse` has it: one step has none.
    if (ours.step_time_s->count > 1) deviation_s = ours.step_time_s->stddev_sample;
  }
  if (ours.tflops_per_gpu) tflops = ours.tflops_per_gpu->mean;
  table.add({"ours", "", parser::to_string(ours.window),
             fmt::to_string(ours.step_time_s ? ours.step_time_s->count : 0),
             fixed_or_dash(mean_s, 4), fixed_or_dash(deviation_s, 4), "sample",
             fixed_or_dash(tflops, 2), "", ours.status_reason});
  for (const parser::ToolResult& tool : compare_tools(run)) {
    if (!tool.reads_such_logs) continue;
    std::optional<double> difference_percent;
    if (tool.difference_to_ours) difference_percent = 100 * *tool.difference_to_ours;
    table.add({tool.tool, tool.release, tool.window, fmt::to_string(tool.step_count),
               fixed_or_dash(tool.step_time_s_mean, 4), fixed_or_dash(tool.step_time_s_std, 4),
               std::string(parser::deviation_name(tool.deviation)),
               fixed_or_dash(tool.tflops_per_gpu_mean, 2), fixed_or_dash(difference_percent, 2),
               tool.why});
  }
  table.print(std::cout);
  std::cout << '\n';
}

void write_json(const report::LogReport& report) {
  report::Json json = {{"format", "llmb-report agreement"}, {"version", 1}};
  json["runs"] = report::Json::array();
  for (const report::ReportedRun& run : report.runs) {
    report::Json entry = {{"path", run.path}, {"dialect", parser::dialect_name(run.facts.dialect)}};
    entry.update(report::agreement_json(run.judgement.summary, compare_tools(run)));
    json["runs"].push_back(std::move(entry));
  }
  std::cout << json.dump(1, ' ', false, report::Json::error_handler_t::replace) << '\n';
}

int run_agreement(AgreementArguments arguments) {
  if (arguments.names.empty()) {
    arguments.names = default_folders("agreement", "a log or a folder");
    if (arguments.names.empty()) return kBadArguments;
  }
  for (const std::string& name : arguments.names) {
    std::error_code error;
    if (std::filesystem::exists(name, error)) continue;
    std::cerr << "llmb-report agreement: there is no file or folder '" << name << "'\n";
    return 1;
  }
  report::ParsingOptions options;
  options.keeps_samples = true;
  if (!arguments.window.empty())
    options.window = parser::parse_asked_window(arguments.window).value();
  const report::LogReport report =
      report::parse_logs(report::discover_logs(arguments.names), options);
  report::tell_skipped(report, std::cerr);
  if (arguments.format == "json") {
    write_json(report);
  } else {
    for (const report::ReportedRun& run : report.runs) write_run(run);
    if (report.runs.empty()) {
      std::cerr << "llmb-report agreement: " << report::no_log_text(arguments.names, report.others)
                << '\n';
    }
  }
  return !report.runs.empty() ? 0 : kFailed;
}

}  // namespace

void add_agreement_command(CLI::App& app, int& exit_code) {
  CLI::App* const command =
      app.add_subcommand("agreement", "What other tools would report for a log, and why");
  command->footer(kAgreementFooter);
  const auto arguments = std::make_shared<AgreementArguments>();
  command->add_option("--format", arguments->format, "table or json")
      ->check(CLI::IsMember({"table", "json"}))
      ->capture_default_str();
  add_window_option(*command, arguments->window);
  command
      ->add_option("names", arguments->names,
                   "Logs and folders; without any, those that 'parse' reads without a PATH "
                   "($LLMB_WORKLOAD)")
      ->type_name("LOG|DIR");
  command->callback([arguments, &exit_code] { exit_code = run_agreement(*arguments); });
}

}  // namespace llmb::cli
