#include "server/dispatch/job_evidence.h"

#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "parser/foundation/parse_number.h"
#include "parser/layout/log_name.h"
#include "server/dispatch/job_files.h"

namespace llmb::dispatch {
namespace {

constexpr std::int64_t kTailBytes = std::int64_t{64} * 1024;

bool is_wrapped(std::string_view text, std::string_view front, std::string_view back) {
  return text.size() > front.size() + back.size() && text.substr(0, front.size()) == front &&
         text.substr(text.size() - back.size()) == back;
}

// "sbatch_<name>_<jobid>.out" or "llmb-config_<jobid>.yaml".
std::optional<std::int64_t> job_id_in(std::string_view name) {
  const std::size_t bar = name.rfind('_');
  const std::size_t dot = name.rfind('.');
  if (bar == std::string_view::npos || dot == std::string_view::npos || dot < bar) return {};
  if (!is_wrapped(name, "sbatch_", ".out") && !is_wrapped(name, "llmb-config_", ".yaml")) return {};
  return parser::parse_integer(name.substr(bar + 1, dot - bar - 1));
}

// Two folders up from the run's: in the tree of 2024 the logs of all launches lie there.
std::string tree_folder(const std::string& run_folder) {
  const std::size_t slash = run_folder.rfind('/', run_folder.rfind('/') - 1);
  return slash == std::string::npos ? "" : run_folder.substr(0, slash);
}

}  // namespace

JobLogs job_logs(const storage::JobRecord& job) {
  JobLogs logs;
  std::int64_t newest = -1;
  if (!job.job_id || job.run_folder.empty()) return logs;
  for (const std::string& folder : {job.run_folder, tree_folder(job.run_folder)}) {
    const auto names = names_in(folder);
    if (!names) {
      if (logs.error.empty()) logs.error = names.error().message;
      continue;
    }
    for (const std::string& name : *names) {
      if (folder == job.run_folder && is_wrapped(name, "sbatch_", ".out") &&
          job_id_in(name) == job.job_id) {
        logs.batch_output = fmt::format("{}/{}", folder, name);
      }
      if (!is_wrapped(name, "log-", ".out")) continue;
      const parser::LogName parsed = parser::parse_log_name(name, job.experiment);
      if (parsed.job_id == job.job_id && parsed.retry.value_or(0) > newest) {
        newest = parsed.retry.value_or(0);
        logs.log = fmt::format("{}/{}", folder, name);
      }
    }
  }
  return logs;
}

parser::Result<std::optional<std::int64_t>> job_id_of_folder(const std::string& run_folder) {
  const auto names = names_in(run_folder);
  if (!names) return tl::unexpected(names.error());
  for (const std::string& name : *names) {
    if (const auto id = job_id_in(name)) return id;
  }
  return std::nullopt;
}

parser::Result<std::optional<JobEvidence>> job_evidence(const storage::JobRecord& job) {
  const JobLogs logs = job_logs(job);
  if (logs.batch_output.empty()) {
    if (!logs.error.empty()) return parser::fail(logs.error);
    return std::nullopt;
  }
  const auto tail = read_piece(logs.batch_output, std::nullopt, kTailBytes);
  if (!tail) return tl::unexpected(tail.error());
  return batch_output_evidence(tail->text, *job.job_id);
}

}  // namespace llmb::dispatch
