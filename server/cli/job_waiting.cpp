#include "server/cli/job_waiting.h"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <map>

#include "server/cli/complaint.h"
#include "server/cli/exit_codes.h"
#include "server/cli/job_table.h"
#include "server/cli/stop_signals.h"
#include "server/dispatch/job_evidence.h"
#include "server/dispatch/poller.h"
#include "server/report/log_discovery.h"
#include "server/report/log_parsing.h"
#include "server/report/text_table.h"

namespace llmb::cli {
namespace {

using dispatch::JobState;
using storage::JobRecord;

std::string name_of_state(const JobRecord& job) {
  return std::string(dispatch::job_state_name(job.state));
}

// How far the log of a running job is: " at step 23 of 49"; empty without steps.
std::string step_text(const JobRecord& job) {
  const std::string log = dispatch::job_logs(job).log;
  if (log.empty()) return {};
  const report::LogReport report = report::parse_logs(report::discover_logs({log}), {});
  if (report.runs.empty()) return {};
  const parser::RunSummary& summary = report.runs.front().judgement.summary;
  if (!summary.last_iteration) return {};
  std::string text = fmt::format(" at step {}", *summary.last_iteration);
  if (summary.declared_last_iteration) {
    text += fmt::format(" of {}", *summary.declared_last_iteration);
  }
  return text;
}

// On a terminal one line that is drawn over itself; elsewhere a line for each change.
class WaitingLine {
 public:
  ~WaitingLine() { clear(); }

  void show(const std::vector<JobRecord>& jobs, const std::string& error) {
    for (const JobRecord& job : jobs) {
      std::string& shown = shown_[job.id];
      const std::string now = name_of_state(job) + (job.trouble.empty() ? "" : ": " + job.trouble);
      if (shown == now) continue;
      shown = now;
      clear();
      std::cerr << "job " << job.id << " (Slurm " << slurm_id(job) << ") " << report::printable(now)
                << '\n';
    }
    if (!error.empty() && error != error_) {
      clear();
      std::cerr << "Slurm does not say: " << report::printable(error) << '\n';
    }
    error_ = error;
    if (is_terminal_) draw(jobs);
  }

 private:
  void clear() {
    if (is_terminal_) std::cerr << "\r\x1b[K" << std::flush;
  }

  void draw(const std::vector<JobRecord>& jobs) {
    std::map<std::string, int> counts;
    std::string steps;
    for (const JobRecord& job : jobs) {
      ++counts[name_of_state(job)];
      if (steps.empty() && job.state == JobState::running) {
        steps = step_text(job);
        if (!steps.empty()) steps = fmt::format(" · job {}{}", job.id, steps);
      }
    }
    std::string line;
    for (const auto& [state, count] : counts) {
      line += fmt::format("{}{} {}", line.empty() ? "" : ", ", count, state);
    }
    std::cerr << "\r\x1b[K" << line << steps << std::flush;
  }

  const bool is_terminal_ = isatty(STDERR_FILENO) != 0;
  std::map<storage::JobRowId, std::string> shown_;
  std::string error_;
};

std::vector<JobRecord> load(storage::JobStore& store, const std::vector<storage::JobRowId>& ids) {
  std::vector<JobRecord> jobs;
  jobs.reserve(ids.size());
  for (const storage::JobRowId id : ids) {
    if (auto job = store.job(id)) jobs.push_back(std::move(*job));
  }
  return jobs;
}

bool has_ended(const JobRecord& job) {
  return dispatch::is_final(job.state);
}

// The runs of the jobs' logs; of a job that failed before it had one, what its batch script
// printed: "srun: unrecognized option …".
struct JobResults {
  report::LogReport report;
  std::map<storage::JobRowId, std::string> logs;    // of the jobs that have one
  std::map<storage::JobRowId, std::string> errors;  // why a folder could not be looked into
};

JobResults results_of(const std::vector<JobRecord>& jobs) {
  JobResults results;
  for (const JobRecord& job : jobs) {
    const dispatch::JobLogs of_job = dispatch::job_logs(job);
    const bool has_none = of_job.log.empty() && job.state == JobState::failed;
    const std::string& log = has_none ? of_job.batch_output : of_job.log;
    if (!log.empty()) results.logs[job.id] = log;
    if (!of_job.error.empty()) results.errors[job.id] = of_job.error;
  }
  std::vector<std::string> logs;
  for (const auto& [id, log] : results.logs) logs.push_back(log);
  results.report = report::parse_logs(report::discover_logs(logs), {});
  return results;
}

// As `parse` has it.
void write_results(const std::vector<JobRecord>& jobs, const report::LogReport& report) {
  write_job_table(jobs, std::cout);
  if (report.runs.empty()) return;
  std::cout << '\n';
  report::TableStyle style;
  style.has_colour = isatty(STDOUT_FILENO) != 0;
  report::write_table(report, style, std::cout);
}

// What a job that Slurm calls completed owes; empty where its log has the steps that it declares.
std::string lack_of(const JobRecord& job, const JobResults& results) {
  const auto log = results.logs.find(job.id);
  if (log == results.logs.end()) {
    const auto error = results.errors.find(job.id);
    return error == results.errors.end() ? "it left no log"
                                         : "its log cannot be looked for: " + error->second;
  }
  const auto& runs = results.report.runs;
  const auto run = std::find_if(runs.begin(), runs.end(),
                                [&](const auto& each) { return each.path == log->second; });
  if (run == runs.end()) return "its log could not be read";
  if (run->facts.segments.empty()) return "its log holds no step";
  const parser::RunSummary& summary = run->judgement.summary;
  if (summary.is_function_check) return "";  // one step is all that it does
  std::int64_t reached = 0;
  for (const parser::SegmentFacts& segment : run->facts.segments) {
    reached = std::max(reached, segment.last_iteration);
  }
  const std::int64_t declared = summary.declared_last_iteration.value_or(0);
  return reached >= declared ? "" : fmt::format("its log ends at step {} of {}", reached, declared);
}

// The exit code of jobs that have ended.
int tell_what_is_missing(const std::vector<JobRecord>& jobs, const JobResults& results) {
  int exit_code = 0;
  for (const JobRecord& job : jobs) {
    if (job.state != JobState::completed) {
      exit_code = kFailed;  // the table says it
    } else if (const std::string lack = lack_of(job, results); !lack.empty()) {
      exit_code =
          complain("submit", fmt::format("job {} completed, but {}", job.id, lack), kFailed);
    }
  }
  return exit_code;
}

}  // namespace

int wait_for_jobs(JobDesk& desk, const std::vector<storage::JobRowId>& ids) {
  const StopSignals signals;
  dispatch::Poller poller(desk.settings, *desk.store);
  std::vector<JobRecord> jobs;
  {
    WaitingLine line;
    while (true) {
      const std::string error = poller.poll_once().error;
      jobs = load(*desk.store, ids);
      line.show(jobs, error);
      if (std::all_of(jobs.begin(), jobs.end(), has_ended)) break;
      if (const int signal = signals.wait(desk.settings.poll_interval); signal != 0) {
        std::cerr << "\nThe jobs go on. llmb-report jobs shows them, llmb-report jobs cancel ends "
                     "them.\n";
        return kSignalExit + signal;
      }
    }
  }
  const JobResults results = results_of(jobs);
  write_results(jobs, results.report);
  return tell_what_is_missing(jobs, results);
}

}  // namespace llmb::cli
