#include "server/dispatch/dispatcher.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "parser/foundation/content_hash.h"
#include "server/dispatch/launch_variables.h"
#include "server/dispatch/nearest_layout.h"
#include "server/dispatch/plan_submission.h"
#include "server/dispatch/recipe_launch.h"
#include "server/dispatch/runner_trial.h"
#include "server/dispatch/submission_mark.h"
#include "server/dispatch/text_check.h"
#include "server/dispatch/wall_clock.h"

namespace llmb::dispatch {
namespace {

using storage::JobRecord;
using storage::RecordedRequest;

// Of the submissions as they were asked for: equal texts are equal requests.
std::string hash_of(const std::vector<Submission>& submissions) {
  std::uint64_t hash = parser::kFnv1aBasis;
  for (const Submission& submission : submissions) {
    hash = parser::fnv1a(submission_json(submission) + "\n", hash);
  }
  return fmt::to_string(hash);
}

struct RefusedJobs {
  std::string message;
  std::vector<std::size_t> jobs;  // from 1, in the order of the submissions
};
using Refusals = std::vector<RefusedJobs>;  // each message once

void add_refusal(Refusals& refusals, std::string message, std::size_t job) {
  const auto known = std::find_if(refusals.begin(), refusals.end(),
                                  [&](const RefusedJobs& one) { return one.message == message; });
  if (known == refusals.end()) {
    refusals.push_back({std::move(message), {job}});
  } else {
    known->jobs.push_back(job);
  }
}

// One line for each reason, so that all can be mended at once.
std::string told_refusals(const Refusals& refusals, std::size_t job_count) {
  std::size_t refused = 0;
  for (const RefusedJobs& one : refusals) refused += one.jobs.size();
  if (refusals.size() == 1 && refused == job_count) return refusals.front().message;
  std::string text = fmt::format("{} of {} jobs {} refused, and none is submitted", refused,
                                 job_count, refused == 1 ? "is" : "are");
  for (const auto& [message, jobs] : refusals) {
    text += fmt::format("\n{} {}: {}", jobs.size() == 1 ? "job" : "jobs", fmt::join(jobs, ", "),
                        message);
  }
  return text;
}

// Why the plan is refused, by the runner's word; empty where it is not. The notes become the
// plan's. A published row that does not fit may be tried: it ran, by a program that keeps less.
std::string hear_runner(const RunnerVerdict& verdict, const parser::Catalog& catalog, Plan& plan) {
  if (!verdict.refusal.empty()) return verdict.refusal;
  plan.notes.insert(plan.notes.end(), verdict.notes.begin(), verdict.notes.end());
  if (verdict.lack.empty()) return {};
  if (!plan.submission.proxy) {
    plan.notes.push_back("this may end before its first step, by llmb-step-runner's plan: " +
                         verdict.lack);
    return {};
  }
  const std::string layout = nearest_layout(plan.submission, catalog);
  return fmt::format(
      "the proxy does not fit, by llmb-step-runner's plan: {}. Make it smaller "
      "(--set num-layers=2 …){}",
      verdict.lack,
      layout.empty() ? ", or spread it over ranks (--set tp=8 …)"
                     : ", or spread it over ranks: " + layout);
}

parser::Result<std::vector<Plan>> plan_all(const std::vector<Submission>& submissions,
                                           const ClusterSettings& settings,
                                           const parser::Catalog& catalog,
                                           const RunnerFacts& runner) {
  if (submissions.empty()) return parser::fail("there is nothing to submit");
  if (submissions.size() > kJobsAtOnceMax) {
    return parser::fail(fmt::format("more than {} jobs at once", kJobsAtOnceMax));
  }
  std::vector<Plan> all;
  all.reserve(submissions.size());
  Refusals refusals;
  RunnerTrials trials(settings, runner);
  for (std::size_t i = 0; i < submissions.size(); ++i) {
    auto plan = plan_submission(submissions[i], settings, catalog, runner);
    if (!plan) {
      add_refusal(refusals, std::move(plan.error().message), i + 1);
      continue;
    }
    if (std::string refusal = hear_runner(trials.of(*plan), catalog, *plan); !refusal.empty()) {
      add_refusal(refusals, std::move(refusal), i + 1);
    }
    all.push_back(std::move(*plan));
  }
  if (!refusals.empty()) return parser::fail(told_refusals(refusals, submissions.size()));
  return all;
}

// Each note once.
std::vector<std::string> notes_of(const std::vector<Plan>& plans) {
  std::vector<std::string> notes;
  for (const Plan& plan : plans) {
    for (const std::string& note : plan.notes) {
      if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);
    }
  }
  return notes;
}

// The secrets that the shell has set, without their values.
Environment shown_secrets(const ClusterSettings& settings) {
  Environment secrets;
  for (const std::string_view name : secret_variables()) {
    if (settings.launch_environment.contains(name)) secrets[std::string(name)] = "set";
  }
  return secrets;
}

}  // namespace

Dispatcher::Dispatcher(const ClusterSettings& settings, const parser::Catalog& catalog,
                       storage::JobStore& store, RunnerProbe& runner, JobChanged changed)
    : settings_(settings),
      catalog_(catalog),
      store_(store),
      runner_(runner),
      changed_(std::move(changed)) {}

parser::Result<std::vector<DryRun>> dry_run(const std::vector<Submission>& submissions,
                                            const ClusterSettings& settings,
                                            const parser::Catalog& catalog,
                                            const RunnerFacts& runner) {
  auto plans = plan_all(submissions, settings, catalog, runner);
  if (!plans) return tl::unexpected(plans.error());
  std::vector<DryRun> runs;
  runs.reserve(plans->size());
  for (Plan& plan : *plans) {
    const Launch launch = new_launch(new_submission_id(), false);
    DryRun run{std::move(plan), {}, {}, {}, {}};
    run.place = run_place(run.plan, settings, launch);
    if (run.plan.submits_itself) {
      run.arguments = {"/bin/bash", run.plan.program};
      auto variables = recipe_environment(run.plan, settings, launch, shown_secrets(settings));
      if (!variables) return tl::unexpected(variables.error());
      run.environment = std::move(*variables);
    } else {
      run.arguments = sbatch_arguments(run.plan, settings, launch);
      run.script = batch_script(run.plan, settings, launch);
    }
    runs.push_back(std::move(run));
  }
  return runs;
}

parser::Result<std::vector<DryRun>> Dispatcher::dry_run(
    const std::vector<Submission>& submissions) {
  return dispatch::dry_run(submissions, settings_, catalog_, runner_.facts());
}

std::optional<Refusal> Dispatcher::over_limits(const SubmitRequest& request, std::int64_t wanted) {
  if (const auto& most = request.limits.jobs_per_minute) {
    const std::string since = instant_text(wall_now() - std::chrono::minutes(1));
    const std::int64_t recent = store_.count_since(request.submitted_by, since);
    if (recent + wanted > *most) {
      return Refusal{Refusal::Kind::too_many,
                     fmt::format("{} has asked for {} jobs within a minute, and may ask for {}: "
                                 "submit {} more later ('jobs_per_minute' in the configuration)",
                                 request.submitted_by, recent, *most, wanted)};
    }
  }
  if (const auto& most = request.limits.jobs_unfinished) {
    const std::int64_t unfinished = store_.count_unfinished(request.submitted_by);
    if (unfinished + wanted > *most) {
      return Refusal{Refusal::Kind::too_many,
                     fmt::format("{} has {} jobs that have not ended, and may have {}: wait for "
                                 "some, or cancel them ('jobs_unfinished' in the configuration)",
                                 request.submitted_by, unfinished, *most)};
    }
  }
  return std::nullopt;
}

JobRecord Dispatcher::row_of(const Plan& plan, const SubmitRequest& request,
                             const std::string& created_at) {
  std::string id = new_submission_id();
  Launch launch = new_launch(id, false);
  std::string& last = last_timestamps_[plan.experiment];
  if (last == launch.timestamp) {
    launch = new_launch(std::move(id), true);
  } else {
    last = launch.timestamp;
  }
  const RunPlace place = run_place(plan, settings_, launch);
  JobRecord row;
  row.submission_id = launch.submission_id;
  row.cluster = settings_.name;
  row.state = JobState::submitting;
  row.experiment = plan.experiment;
  row.launch_id = place.launch_id;
  row.run_folder = place.run_folder;
  row.submission = submission_json(plan.submission);
  row.submitted_by = request.submitted_by;
  row.created_at = created_at;
  row.updated_at = created_at;
  row.is_queued = request.is_queued;
  return row;
}

// What the request came for before is not asked for anew: neither limits nor plans say anything of
// it, which may be others by now.
tl::expected<RecordedRequest, Refusal> Dispatcher::record(
    const SubmitRequest& request, const parser::Result<std::vector<Plan>>& plans) {
  const storage::JobRequest wanted = {
      request.submitted_by, request.idempotency_key, hash_of(request.submissions), {}};
  const std::lock_guard lock(submitting_);
  auto known = store_.recorded(wanted);
  if (known && known->kind == RecordedRequest::Kind::conflict) return std::move(*known);
  auto missing = static_cast<std::int64_t>(request.submissions.size());
  if (known) {
    missing -= std::count_if(known->jobs.begin(), known->jobs.end(),
                             [](const JobRecord& job) { return !job.was_never_taken(); });
    if (missing == 0) return std::move(*known);
  }
  if (!plans) return tl::unexpected(Refusal{Refusal::Kind::invalid, plans.error().message});
  if (auto refusal = over_limits(request, missing)) return tl::unexpected(std::move(*refusal));
  const std::string now = instant_text(wall_now());
  std::vector<JobRecord> rows;
  rows.reserve(plans->size());
  for (const Plan& plan : *plans) rows.push_back(row_of(plan, request, now));
  return store_.record(wanted, std::move(rows), now);
}

SubmitOutcome Dispatcher::submit(const SubmitRequest& request) {
  SubmitOutcome outcome;
  const auto plans = plan_all(request.submissions, settings_, catalog_, runner_.facts());
  if (plans) outcome.notes = notes_of(*plans);
  auto recorded = record(request, plans);
  if (!recorded) {
    outcome.refusal = std::move(recorded.error());
    return outcome;
  }
  if (recorded->kind == RecordedRequest::Kind::conflict) {
    outcome.refusal =
        Refusal{Refusal::Kind::conflict,
                fmt::format("the idempotency key {} came before with other submissions: use a new "
                            "key for a new request",
                            in_quotes(request.idempotency_key))};
    return outcome;
  }
  outcome.is_repeated = recorded->kind == RecordedRequest::Kind::repeated;
  outcome.jobs = std::move(recorded->jobs);
  outcome.is_new = std::move(recorded->is_new);
  for (std::size_t i = 0; changed_ && i < outcome.jobs.size(); ++i) {
    if (outcome.is_new[i]) changed_(outcome.jobs[i]);
  }
  return outcome;
}

tl::expected<JobRecord, Refusal> Dispatcher::cancel(storage::JobRowId id) {
  const auto refuse = [](Refusal::Kind kind, std::string message) {
    return tl::unexpected(Refusal{kind, std::move(message)});
  };
  const auto known = store_.job(id);
  if (!known) return refuse(Refusal::Kind::not_found, fmt::format("no job {}", id));
  if (known->cluster != settings_.name) {
    return refuse(
        Refusal::Kind::invalid,
        fmt::format("job {} is on the cluster {}, which this is not", id, known->cluster));
  }
  const auto updated = update_job(store_, id, changed_, [](JobRecord& row) {
    if (is_final(row.state) || row.cancel_requested_at) return;
    row.cancel_requested_at = instant_text(wall_now());
    if (row.state != JobState::submitting || row.sbatch_called_at) return;
    row.state = JobState::cancelled;
    row.ended_at = row.cancel_requested_at;
    row.trouble = "it was cancelled before Slurm was asked for it";
  });
  if (!updated.job) return refuse(Refusal::Kind::not_found, fmt::format("no job {}", id));
  return *updated.job;
}

}  // namespace llmb::dispatch
