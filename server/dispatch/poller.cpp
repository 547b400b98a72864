#include "server/dispatch/poller.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <set>

#include "server/dispatch/job_evidence.h"
#include "server/dispatch/job_observation.h"

namespace llmb::dispatch {

using storage::JobRecord;

namespace {

// Nobody keeps ended jobs in slurmctld for longer (MinJobAge; five minutes unless configured).
constexpr std::chrono::hours kEndedMayComeBack{24};
constexpr std::chrono::seconds kLookBackInterval{30};

}  // namespace

// One turn of asking: what Slurm said, and what it makes of the rows.
struct Poller::Turn {
  Poller& poller;
  WallTime now;
  PollOutcome outcome;
  std::map<std::string, std::optional<std::int64_t>> partition_nodes;

  const ClusterSettings& settings() const { return poller.settings_; }

  void update(storage::JobRowId id, const std::function<void(JobRecord&)>& change) {
    if (update_job(poller.store_, id, poller.changed_, change).has_changed) ++outcome.changed;
  }

  void end(storage::JobRowId id, const JobEvidence& evidence, const std::string& trouble) {
    update(id, [&](JobRecord& row) {
      if (is_final(job_state_from_name(row.state))) return;
      row.state = job_state_name(evidence.state);
      row.state_reason.clear();
      row.trouble = trouble;
      row.exit_code = evidence.exit_code;
      if (!row.started_at && evidence.started_at_s) {
        row.started_at = instant_text(instant_of_unix_s(*evidence.started_at_s));
      }
      row.ended_at = evidence.ended_at_s ? instant_text(instant_of_unix_s(*evidence.ended_at_s))
                                         : instant_text(now);
    });
  }

  void take(const JobRecord& job, const ObservedJob& observed) {
    poller.missing_since_.erase(job.id);
    std::optional<std::int64_t> nodes;
    if (observed.state == JobState::pending && observed.state_reason == "Resources") {
      const auto [entry, is_new] = partition_nodes.try_emplace(observed.partition);
      if (is_new) entry->second = poller.slurm_.partition_nodes(observed.partition);
      nodes = entry->second;
    }
    update(job.id, [&](JobRecord& row) { apply_observation(row, observed, nodes); });
    // A wish that Slurm did not hear, or that came before the job's id was known.
    if (job.cancel_requested_at && !is_final(observed.state) &&
        observed.state != JobState::completing) {
      if (auto done = poller.slurm_.scancel(observed.job_id); !done) {
        outcome.error = done.error().message;
      }
    }
  }

  // `scontrol requeue` brings back a job that has ended, too.
  void look_back(const JobRecord& job, const ObservedJob* observed) {
    if (observed == nullptr) {
      poller.forgotten_[job.id] = *job.ended_at;
    } else if (!is_final(observed->state)) {
      update(job.id, [&](JobRecord& row) {
        apply_observation(row, *observed);
        row.cancel_requested_at.reset();  // a wish of its life before
      });
    }
  }

  // sbatch's answer was lost, or is still on its way.
  void find(const JobRecord& job) {
    if (const auto id = job_id_of_folder(job.run_folder)) {
      update(job.id, [&](JobRecord& row) {
        if (!row.job_id) row.job_id = id;
      });
      return;
    }
    const auto created = parse_instant(job.created_at).value_or(WallTime());
    if (now < created + settings().command_deadline + settings().accounting_grace) return;
    const auto since =
        std::chrono::floor<std::chrono::seconds>(created).time_since_epoch().count() - 60;
    const auto found = poller.slurm_.find_by_folder(job.run_folder, since);
    if (found && *found) {
      update(job.id, [&](JobRecord& row) {
        if (!row.job_id) row.job_id = **found;
      });
      return;
    }
    end(job.id, {JobState::not_submitted},
        "sbatch's answer was lost, and Slurm knows no job with this submission's mark: nothing "
        "was submitted; submit it again");
  }

  void ask_accounting(const std::vector<JobRecord>& missing) {
    if (missing.empty()) return;
    std::vector<std::int64_t> ids;
    ids.reserve(missing.size());
    for (const JobRecord& job : missing) ids.push_back(*job.job_id);
    const auto records = poller.slurm_.sacct(ids);
    for (const JobRecord& job : missing) {
      const ObservedJob* const accounted = records ? find_in_accounting(*records, job) : nullptr;
      if (accounted != nullptr && is_final(accounted->state)) {
        poller.missing_since_.erase(job.id);
        update(job.id, [&](JobRecord& row) { apply_observation(row, *accounted); });
      } else {
        take_evidence(job, !records);
      }
    }
  }

  // Accounting lags behind the queue, or there is none.
  void take_evidence(const JobRecord& job, bool has_no_accounting) {
    const WallTime since = poller.missing_since_.try_emplace(job.id, now).first->second;
    const bool has_waited = now >= since + settings().accounting_grace;
    if (!has_no_accounting && !has_waited) return;
    if (const auto evidence = job_evidence(job)) {
      end(job.id, *evidence, "");
    } else if (!has_waited) {
      return;
    } else {
      const std::string status = poller.store_.last_run_status(job).value_or("");
      const JobState state = status == "complete" ? JobState::completed
                             : status == "failed" ? JobState::failed
                                                  : JobState::ended;
      end(job.id, {state},
          state == JobState::ended
              ? "it left the queue, and neither Slurm's accounting nor its own output says how it "
                "ended"
              : "Slurm's accounting does not know it; this is what its log says");
    }
    poller.missing_since_.erase(job.id);
  }
};

Poller::Poller(const ClusterSettings& settings, storage::JobStore& store, JobChanged changed)
    : settings_(settings), store_(store), changed_(std::move(changed)), slurm_(settings) {}

Poller::~Poller() {
  stop();
}

std::vector<JobRecord> Poller::ended_but_known(WallTime now) {
  std::vector<JobRecord> ended =
      store_.ended_since(settings_.name, instant_text(now - kEndedMayComeBack));
  std::map<storage::JobRowId, std::string> still_forgotten;
  std::erase_if(ended, [&](const JobRecord& job) {
    const auto known = forgotten_.find(job.id);
    if (known == forgotten_.end() || known->second != job.ended_at) return false;
    still_forgotten.insert(*known);
    return true;
  });
  forgotten_ = std::move(still_forgotten);
  return ended;
}

PollOutcome Poller::poll_once(WallTime now) {
  Turn turn{*this, now, {}, {}};
  const std::vector<JobRecord> rows = store_.unfinished(settings_.name, final_state_names());
  turn.outcome.unfinished = rows.size();
  if (rows.empty()) missing_since_.clear();
  if (rows.empty() && now < look_back_at_) return turn.outcome;
  const std::vector<JobRecord> ended = ended_but_known(now);
  if (rows.empty() && ended.empty()) return turn.outcome;
  const auto queue = slurm_.squeue();
  if (!queue) {
    turn.outcome.error = queue.error().message;
    return turn.outcome;
  }
  look_back_at_ = now + kLookBackInterval;
  for (const JobRecord& job : ended) turn.look_back(job, find_in_queue(*queue, job));
  std::vector<JobRecord> missing;
  for (const JobRecord& job : rows) {
    if (const ObservedJob* const observed = find_in_queue(*queue, job)) {
      turn.take(job, *observed);
    } else if (job.job_id) {
      missing.push_back(job);
    } else {
      turn.find(job);
    }
  }
  turn.ask_accounting(missing);
  return turn.outcome;
}

void Poller::start() {
  thread_ = std::thread([this] {
    std::unique_lock lock(mutex_);
    while (!is_stopping_) {
      lock.unlock();
      std::string error;
      try {
        error = poll_once().error;
      } catch (const std::exception& failure) {
        error = failure.what();
      }
      if (error.empty() && !last_error_.empty()) {
        spdlog::info("jobs: Slurm answers again");
      } else if (error != last_error_) {
        spdlog::warn("jobs: nothing new from Slurm, asking again: {}", error);
      }
      lock.lock();
      last_error_ = error;
      wake_up_.wait_for(lock, settings_.poll_interval, [&] { return is_stopping_ || is_woken_; });
      is_woken_ = false;
    }
  });
}

void Poller::stop() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  wake_up_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Poller::wake() {
  {
    const std::lock_guard lock(mutex_);
    is_woken_ = true;
  }
  wake_up_.notify_all();
}

std::string Poller::last_error() const {
  const std::lock_guard lock(mutex_);
  return last_error_;
}

}  // namespace llmb::dispatch
