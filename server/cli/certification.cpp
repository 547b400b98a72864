#include "server/cli/certification.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <limits>
#include <map>
#include <optional>

#include "server/cli/complaint.h"
#include "server/cli/exit_codes.h"
#include "server/cli/job_table.h"
#include "server/cli/stop_signals.h"
#include "server/dispatch/command_run.h"
#include "server/dispatch/job_evidence.h"
#include "server/dispatch/poller.h"
#include "server/dispatch/run_steps.h"
#include "server/dispatch/send_queue.h"
#include "server/report/log_discovery.h"
#include "server/report/log_parsing.h"
#include "server/report/text_table.h"

namespace llmb::cli {
namespace {

using dispatch::JobState;
using storage::JobRecord;
using Clock = std::chrono::steady_clock;

// Slurm did not answer, or refused: what is lacking is tried again after so many turns.
constexpr int kTurnsBetweenTries = 6;

struct Configuration {
  dispatch::Submission submission;
  dispatch::Submission planned;  // with what variables and defaults say
  std::string as_recorded;       // of its jobs' rows
  std::int64_t valid = 0;
  std::int64_t going = 0;
  std::int64_t attempts = 0;  // of this call
  std::string last_trouble;
  // After a refusal by Slurm. A limit of jobs may be the reason: it waits until fewer are under way
  // than were then, or, where none was, for a while.
  std::int64_t refused_beside = 0;
  Clock::time_point next_try{};

  std::string name() const {
    return fmt::format("{} {} {}, {} GPUs", planned.workload, planned.model_size, planned.dtype,
                       planned.scale);
  }
};

// What a completed job's log amounts to; empty: a valid result.
std::string flaw_of(const JobRecord& job) {
  const std::string log = dispatch::job_logs(job).log;
  if (log.empty()) return "it has no log";
  const report::LogReport report = report::parse_logs(report::discover_logs({log}), {});
  if (report.runs.empty()) return "its log cannot be read";
  const parser::RunSummary& summary = report.runs.front().judgement.summary;
  return summary.status == parser::RunStatus::complete ? "" : summary.status_reason;
}

class Certification {
 public:
  Certification(JobDesk& desk, dispatch::Dispatcher& dispatcher, dispatch::JobSender& sender,
                std::string user, const CertificationWishes& wishes)
      : desk_(desk),
        dispatcher_(dispatcher),
        sender_(sender),
        user_(std::move(user)),
        wishes_(wishes),
        poller_(desk.settings, *desk.store) {}

  parser::Result<void> plan(const std::vector<dispatch::Submission>& submissions) {
    const auto runs = dispatcher_.dry_run(submissions);
    if (!runs) return tl::unexpected(runs.error());
    for (std::size_t i = 0; i < runs->size(); ++i) {
      // By the catalog that judges their logs (flaw_of).
      if (std::string why = dispatch::why_never_complete((*runs)[i].plan, desk_.settings,
                                                         parser::embedded_catalog());
          !why.empty()) {
        return parser::fail("--until waits for complete runs, and " + why);
      }
      std::string text = dispatch::submission_json((*runs)[i].plan.submission);
      const bool is_known =
          std::any_of(configurations_.begin(), configurations_.end(),
                      [&](const Configuration& known) { return known.as_recorded == text; });
      if (is_known) continue;
      Configuration& added = configurations_.emplace_back();
      added.submission = submissions[i];
      added.planned = (*runs)[i].plan.submission;
      added.as_recorded = std::move(text);
    }
    return {};
  }

  int run() {
    const StopSignals signals;
    while (true) {
      const std::string error = poller_.poll_once().error;
      if (!error.empty() && error != last_error_) {
        std::cerr << "Slurm does not say: " << report::printable(error) << '\n';
      }
      last_error_ = error;
      count();
      if (const auto refused = submit_what_is_lacking()) return *refused;
      if (is_over()) break;
      if (const int signal = signals.wait(desk_.settings.poll_interval); signal != 0) {
        std::cerr << (going() > 0 ? "\nThe jobs go on; the" : "\nNo job is under way; the")
                  << " same command goes on from here.\n";
        return kSignalExit + signal;
      }
    }
    write_results();
    return has_all() ? 0 : kFailed;
  }

 private:
  struct KnownEnd {
    JobState state = JobState::unknown;
    std::optional<std::string> ended_at;
    Clock::time_point first_seen = Clock::now();
    bool is_settled = false;
    std::string flaw = {};
  };

  void count() {
    for (Configuration& one : configurations_) one.valid = one.going = 0;
    for (const JobRecord& job : desk_.store->jobs(std::numeric_limits<std::int64_t>::max())) {
      if (job.cluster != desk_.settings.name) continue;
      const auto found =
          std::find_if(configurations_.begin(), configurations_.end(),
                       [&](const Configuration& one) { return one.as_recorded == job.submission; });
      if (found != configurations_.end()) count(*found, job);
    }
  }

  void count(Configuration& configuration, const JobRecord& job) {
    const KnownEnd* const end = end_of(job);
    if (end == nullptr) {
      ++configuration.going;
      const bool is_news = shown_[job.id] != job.state && !dispatch::is_final(job.state);
      if (is_news) show(configuration, job, "");
      return;
    }
    if (end->flaw.empty()) ++configuration.valid;
    if (shown_.contains(job.id) && shown_[job.id] != job.state) {
      show(configuration, job, end->flaw.empty() ? "a valid result" : end->flaw);
      configuration.last_trouble = end->flaw;
    }
  }

  void show(const Configuration& configuration, const JobRecord& job, const std::string& what) {
    shown_[job.id] = job.state;
    std::cerr << fmt::format("{}: job {} (Slurm {}) {}{}{}\n", configuration.name(), job.id,
                             slurm_id(job), storage::job_state_name(job.state),
                             what.empty() ? "" : ": ", report::printable(what));
  }

  // Null while the job goes on, or its log may.
  const KnownEnd* end_of(const JobRecord& job) {
    if (!dispatch::is_final(job.state)) return nullptr;
    KnownEnd& end = ends_[job.id];
    // The first end, or the next one of a job that was requeued.
    if (end.state != job.state || end.ended_at != job.ended_at) end = {job.state, job.ended_at};
    if (!end.is_settled) {
      const bool has_completed = job.state == JobState::completed || job.state == JobState::ended;
      end.flaw = has_completed ? flaw_of(job) : (job.trouble.empty() ? "no result" : job.trouble);
      // The last lines of a log may show some time after its job has ended.
      end.is_settled = !has_completed || end.flaw.empty() ||
                       Clock::now() >= end.first_seen + desk_.settings.accounting_grace;
    }
    return end.is_settled ? &end : nullptr;
  }

  std::int64_t going() const {
    std::int64_t sum = 0;
    for (const Configuration& one : configurations_) sum += one.going;
    return sum;
  }

  bool may_have_more(const Configuration& one) const {
    return one.valid + one.going < wishes_.results && one.attempts < wishes_.attempts;
  }

  bool may_be_tried(const Configuration& one) const {
    const bool waits_for_an_end = one.refused_beside > 0 && going() >= one.refused_beside;
    return may_have_more(one) && !waits_for_an_end && Clock::now() >= one.next_try;
  }

  Clock::time_point after_a_pause() const {
    return Clock::now() + kTurnsBetweenTries * desk_.settings.poll_interval;
  }

  // The one that has least comes next. An exit code where nothing can come of it.
  std::optional<int> submit_what_is_lacking() {
    while (going() < wishes_.at_once && Clock::now() >= next_try_) {
      const auto next =
          std::min_element(configurations_.begin(), configurations_.end(),
                           [&](const Configuration& left, const Configuration& right) {
                             const bool left_may = may_be_tried(left);
                             if (left_may != may_be_tried(right)) return left_may;
                             return left.valid + left.going < right.valid + right.going;
                           });
      if (!may_be_tried(*next)) return std::nullopt;
      if (const auto refused = submit(*next)) return refused;
    }
    return std::nullopt;
  }

  // Empty where all are there.
  std::string missing_command() const {
    for (const char* const name : {"sbatch", "squeue"}) {
      if (dispatch::find_program(name, desk_.settings.command_path).empty()) return name;
    }
    return {};
  }

  std::optional<int> submit(Configuration& one) {
    // Waiting brings no Slurm to a machine that has none.
    if (const std::string name = going() == 0 ? missing_command() : ""; !name.empty()) {
      return complain("submit",
                      fmt::format("nothing was submitted: Slurm is not here, for there is no {} in "
                                  "{}. Submit where its commands are, or name their folder "
                                  "('command_path' in the configuration)",
                                  name, desk_.settings.command_path),
                      kFailed);
    }
    dispatch::SubmitOutcome outcome = dispatcher_.submit({{one.submission}, user_, "", false, {}});
    dispatch::send_all(sender_, outcome);
    const bool is_recorded = !outcome.jobs.empty();
    if (outcome.refusal) {
      using Kind = dispatch::Refusal::Kind;
      one.last_trouble = outcome.refusal->message;
      std::cerr << fmt::format("{}: {}\n", one.name(), report::printable(one.last_trouble));
      if (!is_recorded || outcome.refusal->kind == Kind::invalid) return kBadArguments;
      if (outcome.refusal->kind == Kind::unavailable) {
        next_try_ = after_a_pause();
        return std::nullopt;  // no attempt: nothing was tried
      }
    }
    one.refused_beside = outcome.refusal ? going() : 0;
    if (one.refused_beside > 0) return std::nullopt;  // no attempt: a limit may be reached
    if (outcome.refusal) one.next_try = after_a_pause();
    ++one.attempts;
    for (const JobRecord& job : outcome.jobs) {
      if (dispatch::is_final(job.state)) continue;
      ++one.going;
      show(one, job, "");
    }
    return std::nullopt;
  }

  bool has_all() const {
    return std::all_of(configurations_.begin(), configurations_.end(),
                       [&](const Configuration& one) { return one.valid >= wishes_.results; });
  }

  bool is_over() const {
    const bool is_waiting =
        std::any_of(configurations_.begin(), configurations_.end(),
                    [&](const Configuration& one) { return may_have_more(one); });
    return has_all() || (going() == 0 && !is_waiting);
  }

  void write_results() const {
    report::TextTable table(
        {"WORKLOAD", "SIZE", "DTYPE", ">GPUS", ">VALID", ">WANTED", ">SUBMITTED", "LAST TROUBLE"});
    for (const Configuration& one : configurations_) {
      const dispatch::Submission& wanted = one.planned;
      table.add({wanted.workload, wanted.model_size, wanted.dtype, fmt::to_string(wanted.scale),
                 fmt::to_string(one.valid), fmt::to_string(wishes_.results),
                 fmt::to_string(one.attempts), report::printable(one.last_trouble)});
    }
    table.print(std::cout);
    std::cout.flush();
  }

  JobDesk& desk_;
  dispatch::Dispatcher& dispatcher_;
  dispatch::JobSender& sender_;
  const std::string user_;
  const CertificationWishes wishes_;
  dispatch::Poller poller_;
  std::vector<Configuration> configurations_;
  std::map<storage::JobRowId, KnownEnd> ends_;
  std::map<storage::JobRowId, JobState> shown_;  // of jobs that were seen under way
  std::string last_error_;
  Clock::time_point next_try_{};
};

}  // namespace

int certify(JobDesk& desk, dispatch::Dispatcher& dispatcher, dispatch::JobSender& sender,
            const std::vector<dispatch::Submission>& submissions, const std::string& user,
            const CertificationWishes& wishes) {
  Certification certification(desk, dispatcher, sender, user, wishes);
  if (const auto planned = certification.plan(submissions); !planned) {
    std::cerr << "llmb-report submit: " << report::printable(planned.error().message) << '\n';
    return kBadArguments;
  }
  return certification.run();
}

}  // namespace llmb::cli
