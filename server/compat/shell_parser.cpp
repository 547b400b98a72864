#include "server/compat/shell_parser.h"

#include <filesystem>
#include <optional>
#include <ostream>

#include "server/compat/file_list.h"
#include "server/compat/log_verdict.h"
#include "server/compat/report_writer.h"
#include "server/compat/whole_file.h"

namespace llmb::compat {
namespace {

bool is_skipped(const Release& release, const std::string& name) {
  const auto has = [&](std::string_view part) { return name.find(part) != std::string::npos; };
  if (has("nccltrace")) return true;
  return release.skips_other_tasks &&
         (has("prepare_squad_dataset_exp") || has("import_ckpt_exp") || has("nsys_analysis"));
}

LogVerdict judge(const Release& release, const std::string& name, const std::string& path) {
  const std::optional<std::string> bytes = read_whole_file(path);
  if (!bytes) return {};  // grep finds nothing in what it cannot read
  return release.family == Family::nemo ? judge_nemo_log(release, name, *bytes)
                                        : judge_mbridge_log(release, name, *bytes);
}

void count(const LogVerdict& verdict, Counts& counts) {
  counts.success += verdict.kind == LogVerdict::Kind::success ? 1 : 0;
  counts.failed += verdict.kind == LogVerdict::Kind::failed ? 1 : 0;
  counts.invalid += verdict.kind == LogVerdict::Kind::invalid ? 1 : 0;
}

std::string nothing_valid(const Release& release) {
  const std::string what = release.family == Family::nemo ? "train_step_timing and TFLOPS"
                           : release.reads_model_tflop    ? "elapsed-time and MODEL_TFLOPS"
                                                          : "elapsed-time and TFLOPS";
  return "Error: No valid complete " + what + " data found in any .out files\n";
}

}  // namespace

int run(const Options& options, std::ostream& out, std::ostream& err) {
  std::error_code error;
  if (!std::filesystem::is_directory(options.folder, error)) {
    err << "Error: Directory '" << options.folder << "' not found\n";
    return 1;
  }
  const FileList files = list_out_files(options.folder, options.release.only_log_files);
  if (!files.error.empty()) {
    err << files.error << '\n';
    return 1;
  }
  if (files.paths.empty()) {
    err << "Error: No .out files found in " << options.folder << '\n';
    return 1;
  }
  ReportWriter writer(options, out);
  Counts counts;
  writer.header();
  for (const std::string& path : files.paths) {
    const std::string name = base_name(path);
    if (is_skipped(options.release, name)) continue;
    const LogVerdict verdict = judge(options.release, name, path);
    writer.row(name, verdict);
    count(verdict, counts);
  }
  writer.footer(counts);
  if (counts.success > 0) return 0;
  err << nothing_valid(options.release);
  return 1;
}

}  // namespace llmb::compat
