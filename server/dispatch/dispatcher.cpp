#include "server/dispatch/dispatcher.h"

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>

#include "parser/foundation/content_hash.h"
#include "server/dispatch/job_observation.h"
#include "server/dispatch/text_check.h"
#include "server/dispatch/wall_clock.h"

namespace llmb::dispatch {
namespace {

namespace fs = std::filesystem;
using storage::JobRecord;

constexpr int kFolderTries = 4 * static_cast<int>(kJobsAtOnceMax);

Launch new_launch() {
  Launch launch;
  launch.submission_id = new_submission_id();
  const WallTime now = wall_now();
  const auto second = std::chrono::floor<std::chrono::seconds>(now);
  launch.launched_at_s = second.time_since_epoch().count();
  launch.launched_at_us = (now - second).count();
  const std::time_t seconds = launch.launched_at_s;
  std::tm local{};
  localtime_r(&seconds, &local);
  launch.utc_offset_s = local.tm_gmtoff;
  return launch;
}

// Of the submissions as they were asked for: equal texts are equal requests. FNV-1a.
std::string hash_of(const std::vector<Submission>& submissions) {
  std::uint64_t hash = parser::kFnv1aBasis;
  for (const Submission& submission : submissions) {
    hash = parser::fnv1a(submission_json(submission) + "\n", hash);
  }
  return std::to_string(hash);
}

// A refused launch leaves nothing behind. Only what was made for it goes.
void remove_launch(const RunPlace& place) {
  std::error_code ignored;
  fs::remove(place.script_file, ignored);
  fs::remove(place.run_folder, ignored);
  fs::remove(place.launch_folder, ignored);
}

bool write_file(const std::string& file, const std::string& text) {
  std::ofstream output(file, std::ios::binary | std::ios::trunc);
  output << text;
  output.close();
  return !output.fail();
}

Refusal::Kind refusal_kind(SbatchAnswer::Kind kind) {
  return kind == SbatchAnswer::Kind::refused ? Refusal::Kind::refused : Refusal::Kind::unavailable;
}

parser::Result<std::vector<Planned>> plan_all(const std::vector<Submission>& submissions,
                                              const ClusterSettings& settings,
                                              const parser::Catalog& catalog) {
  if (submissions.empty()) return parser::fail("there is nothing to submit");
  if (submissions.size() > kJobsAtOnceMax) {
    return parser::fail("more than " + std::to_string(kJobsAtOnceMax) + " jobs at once");
  }
  std::vector<Planned> all;
  all.reserve(submissions.size());
  for (const Submission& submission : submissions) {
    auto plan = plan_submission(submission, settings, catalog);
    if (!plan) return tl::unexpected(plan.error());
    all.push_back({std::move(*plan), new_launch(), {}});
    all.back().place = run_place(all.back().plan, settings, all.back().launch);
  }
  return all;
}

}  // namespace

Dispatcher::Dispatcher(const ClusterSettings& settings, const parser::Catalog& catalog,
                       storage::JobStore& store, JobChanged changed)
    : settings_(settings),
      catalog_(catalog),
      store_(store),
      changed_(std::move(changed)),
      slurm_(settings) {}

parser::Result<std::vector<DryRun>> dry_run(const std::vector<Submission>& submissions,
                                            const ClusterSettings& settings,
                                            const parser::Catalog& catalog) {
  auto planned = plan_all(submissions, settings, catalog);
  if (!planned) return tl::unexpected(planned.error());
  std::vector<DryRun> runs;
  runs.reserve(planned->size());
  for (Planned& one : *planned) {
    runs.push_back({one.plan, one.place, sbatch_arguments(one.plan, settings, one.launch),
                    batch_script(one.plan, settings, one.launch)});
  }
  return runs;
}

tl::expected<SubmitOutcome, Refusal> Dispatcher::begin_request(const SubmitRequest& request) {
  SubmitOutcome outcome;
  if (request.idempotency_key.empty()) return outcome;
  const std::string hash = hash_of(request.submissions);
  const std::string now = instant_text(wall_now());
  if (store_.insert_request({request.submitted_by, request.idempotency_key, hash, {}}, now)) {
    return outcome;
  }
  const auto first = store_.request(request.submitted_by, request.idempotency_key);
  if (!first || first->request_hash != hash) {
    return tl::unexpected(
        Refusal{Refusal::Kind::conflict,
                "the idempotency key " + in_quotes(request.idempotency_key) +
                    " came before with other submissions: use a new key for a new request"});
  }
  outcome.is_repeated = true;
  for (const storage::JobRowId id : first->jobs) {
    if (auto job = store_.job(id)) outcome.jobs.push_back(std::move(*job));
  }
  return outcome;
}

SubmitOutcome Dispatcher::submit(const SubmitRequest& request) {
  auto planned = plan_all(request.submissions, settings_, catalog_);
  if (!planned) return {{}, Refusal{Refusal::Kind::invalid, planned.error().message}, false};
  const std::lock_guard lock(submitting_);
  auto begun = begin_request(request);
  if (!begun) return {{}, begun.error(), false};
  SubmitOutcome outcome = std::move(*begun);
  for (std::size_t i = 0; i < planned->size(); ++i) {
    const bool is_there = i < outcome.jobs.size();
    if (is_there && outcome.jobs[i].state != job_state_name(JobState::not_submitted)) continue;
    auto job = record((*planned)[i], request);
    if (!job) {
      outcome.refusal = Refusal{Refusal::Kind::unavailable, job.error().message};
      return outcome;
    }
    outcome.jobs.resize(std::max(outcome.jobs.size(), i + 1));
    outcome.jobs[i] = *job;
    if (!request.idempotency_key.empty()) {
      storage::JobRequest made{request.submitted_by, request.idempotency_key, {}, {}};
      for (const JobRecord& known : outcome.jobs) made.jobs.push_back(known.id);
      store_.set_request_jobs(made);
    }
    std::optional<Refusal> refusal;
    outcome.jobs[i] = send(*job, (*planned)[i], refusal);
    if (!refusal) continue;
    if (!outcome.refusal) outcome.refusal = refusal;
    if (refusal->kind == Refusal::Kind::unavailable) return outcome;
  }
  return outcome;
}

parser::Result<JobRecord> Dispatcher::record(Planned& planned, const SubmitRequest& request) {
  std::error_code error;
  const fs::path parent = fs::path(planned.place.launch_folder).parent_path();
  fs::create_directories(parent, error);
  // Of two launches in one second the later one gets the next second's name.
  bool is_made = false;
  for (int i = 0; !error && !is_made && i < kFolderTries; ++i) {
    is_made = fs::create_directory(planned.place.launch_folder, error);
    if (is_made || error) break;
    ++planned.launch.launched_at_s;
    planned.place = run_place(planned.plan, settings_, planned.launch);
  }
  if (!error && is_made) fs::create_directory(planned.place.run_folder, error);
  if (error || !is_made) {
    return parser::fail("cannot make the run's folder " + planned.place.run_folder + ": " +
                        (error ? error.message() : "too many launches at once"));
  }
  JobRecord job;
  job.submission_id = planned.launch.submission_id;
  job.cluster = settings_.name;
  job.state = job_state_name(JobState::submitting);
  job.experiment = planned.plan.experiment;
  job.launch_id = planned.place.launch_id;
  job.run_folder = planned.place.run_folder;
  job.submission = submission_json(planned.plan.submission);
  job.submitted_by = request.submitted_by;
  job.created_at = instant_text(wall_now());
  job.updated_at = job.created_at;
  job.id = store_.insert(job);
  if (changed_) changed_(job);
  return job;
}

JobRecord Dispatcher::send(const JobRecord& job, const Planned& planned,
                           std::optional<Refusal>& refusal) {
  SbatchAnswer answer;
  if (!write_file(planned.place.script_file,
                  batch_script(planned.plan, settings_, planned.launch))) {
    answer = {SbatchAnswer::Kind::unavailable, 0,
              "cannot write " + planned.place.script_file + ": is the disk full?"};
  } else {
    answer = slurm_.sbatch(sbatch_arguments(planned.plan, settings_, planned.launch));
  }
  const auto updated = update_job(store_, job.id, changed_, [&](JobRecord& row) {
    if (row.state != job_state_name(JobState::submitting)) return;  // the poller was quicker
    switch (answer.kind) {
      case SbatchAnswer::Kind::submitted:
        row.job_id = answer.job_id;
        row.state = job_state_name(JobState::pending);
        break;
      case SbatchAnswer::Kind::unknown:
        row.trouble = answer.message + "; whether there is a job is being looked for";
        break;
      default:
        row.state = job_state_name(JobState::not_submitted);
        row.trouble = answer.message;
        row.ended_at = instant_text(wall_now());
    }
  });
  if (answer.kind != SbatchAnswer::Kind::submitted) {
    refusal = Refusal{refusal_kind(answer.kind), answer.message};
  }
  if (answer.kind == SbatchAnswer::Kind::refused ||
      answer.kind == SbatchAnswer::Kind::unavailable) {
    remove_launch(planned.place);
  }
  return updated.job.value_or(job);
}

tl::expected<JobRecord, Refusal> Dispatcher::cancel(storage::JobRowId id) {
  const auto refuse = [](Refusal::Kind kind, std::string message) {
    return tl::unexpected(Refusal{kind, std::move(message)});
  };
  const auto updated = update_job(store_, id, changed_, [](JobRecord& row) {
    if (is_final(job_state_from_name(row.state)) || row.cancel_requested_at) return;
    row.cancel_requested_at = instant_text(wall_now());
  });
  if (!updated.job) return refuse(Refusal::Kind::not_found, "no job " + std::to_string(id));
  const JobRecord& job = *updated.job;
  if (job.cluster != settings_.name) {
    return refuse(Refusal::Kind::invalid, "job " + std::to_string(id) + " is on the cluster " +
                                              job.cluster + ", which this is not");
  }
  // Without an id it is cancelled as soon as it is found.
  if (is_final(job_state_from_name(job.state)) || !job.job_id) return job;
  const auto queue = slurm_.squeue();
  if (!queue) {
    return refuse(Refusal::Kind::unavailable, queue.error().message +
                                                  "; the wish is recorded, and is repeated while "
                                                  "llmb-report serve runs");
  }
  const ObservedJob* const observed = find_in_queue(*queue, job);
  if (observed == nullptr || is_final(observed->state)) return job;
  if (auto done = slurm_.scancel(*job.job_id); !done) {
    return refuse(Refusal::Kind::refused, done.error().message);
  }
  return job;
}

}  // namespace llmb::dispatch
