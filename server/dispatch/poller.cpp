#include "server/dispatch/poller.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <tuple>

#include "server/dispatch/batch_output.h"
#include "server/dispatch/job_evidence.h"
#include "server/dispatch/job_observation.h"
#include "server/dispatch/submission_mark.h"

namespace llmb::dispatch {

using storage::JobRecord;

namespace {

// Nobody keeps ended jobs in slurmctld for longer (MinJobAge; five minutes unless configured).
constexpr std::chrono::hours kEndedMayComeBack{24};
constexpr std::chrono::seconds kLookBackInterval{30};
// For how long a job is looked for whose submission was lost.
constexpr std::chrono::hours kLostMayTurnUp{24};
// An answer knows all that sbatch had submitted a little before it; the next one certainly.
constexpr int kMissesMax = 2;
constexpr std::chrono::seconds kBetweenMisses{1};
// A file system that does not answer for so long is not waited for.
constexpr std::chrono::minutes kUnreadableMax{10};
// No command line is at work on one of its jobs for longer.
constexpr std::chrono::hours kSendingMax{1};

}  // namespace

// One turn of asking: what Slurm said, and what it makes of the rows.
struct Poller::Turn {
  Poller& poller;
  WallTime now;
  WallTime asked_at;  // when squeue was called
  PollOutcome outcome;
  std::map<std::string, std::optional<std::int64_t>> partition_nodes;
  // When sbatch was last called for the jobs of a request, by its submitter and time.
  std::map<std::pair<std::string, std::string>, std::optional<std::string>> sent_at = {};

  const ClusterSettings& settings() const { return poller.settings_; }

  void update(storage::JobRowId id, const std::function<void(JobRecord&)>& change) {
    if (update_job(poller.store_, id, poller.changed_, change).has_changed) ++outcome.changed;
  }

  // What Slurm said of `job`, as it was read before Slurm was asked. Where the row has changed
  // since, whoever changed it may have asked later: the next turn asks again.
  void observe(const JobRecord& job, const std::function<void(JobRecord&)>& change) {
    update(job.id, [&](JobRecord& row) {
      if (row.revision == job.revision) change(row);
    });
  }

  void end(storage::JobRowId id, const JobEvidence& evidence, const std::string& trouble) {
    update(id, [&](JobRecord& row) {
      if (is_final(row.state)) return;
      row.state = evidence.state;
      row.state_reason.clear();
      row.trouble = trouble;
      row.exit_code = evidence.exit_code;
      if (!row.started_at && evidence.started_at_s) {
        row.started_at = instant_text(instant_of_unix_s(*evidence.started_at_s));
      }
      row.ended_at = evidence.ended_at_s ? instant_text(instant_of_unix_s(*evidence.ended_at_s))
                                         : instant_text(now);
      row.limit_ends_at.reset();
    });
  }

  void take(const JobRecord& job, const ObservedJob& observed) {
    poller.missing_since_.erase(job.id);
    poller.misses_.erase(job.id);
    std::optional<std::int64_t> nodes;
    if (observed.state == JobState::pending && observed.state_reason == "Resources") {
      const auto [entry, is_new] = partition_nodes.try_emplace(observed.partition);
      if (is_new) entry->second = poller.slurm_.partition_nodes(observed.partition);
      nodes = entry->second;
    }
    observe(job, [&](JobRecord& row) { apply_observation(row, observed, nodes); });
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
      observe(job, [&](JobRecord& row) {
        apply_observation(row, *observed);
        row.cancel_requested_at.reset();  // a wish of its life before
      });
    }
  }

  // sbatch was called, and its answer was lost or is still on its way.
  void find(const JobRecord& job) {
    if (!job.sbatch_called_at) {
      give_up_unsent(job);
      return;
    }
    const auto adopted = adopt_by_files(job);
    if (adopted && *adopted) return;
    if (!adopted || !has_sbatch_ended(job)) {
      ++outcome.unclear;
      return;
    }
    // Slurm may still be at work on what sbatch sent it last: two answers have to know nothing.
    Misses& misses = poller.misses_[job.id];
    if (misses.count == 0 || now >= misses.last + kBetweenMisses) {
      ++misses.count;
      misses.last = now;
    }
    if (misses.count < kMissesMax) {
      ++outcome.unclear;
      return;
    }
    poller.misses_.erase(job.id);
    if (adopt_by_accounting(job)) return;
    update(job.id, [&](JobRecord& row) { row.is_lost = true; });
    end(job.id, {JobState::not_submitted},
        "sbatch's answer was lost, and Slurm knows no job with this submission's mark: nothing was "
        "submitted, as far as it says; submit it again, and with another idempotency key where it "
        "had one");
  }

  // Of a command line that ended between recording its jobs and sending them, one after another.
  void give_up_unsent(const JobRecord& job) {
    if (job.is_queued) return;
    const auto is_long_ago = [&](const std::string& at) {
      return now >= parse_instant(at).value_or(WallTime()) + kSendingMax;
    };
    if (!is_long_ago(job.created_at)) return;
    const auto [asked, is_new] = sent_at.try_emplace({job.submitted_by, job.created_at});
    if (is_new) asked->second = poller.store_.last_sent_at(job);
    if (asked->second && !is_long_ago(*asked->second)) return;
    update(job.id, [&](JobRecord& row) {
      if (row.sbatch_called_at || row.state != JobState::submitting) return;
      row.state = JobState::not_submitted;
      row.trouble = "the command that recorded it ended before it called sbatch; submit it again";
      row.ended_at = instant_text(now);
    });
  }

  // As the row says, or, where whoever called sbatch was killed, as this machine's processes do.
  // The answer counts from the next turn on: this turn's may have begun before the end.
  bool has_sbatch_ended(const JobRecord& job) {
    if (job.sbatch_ended_at) {
      const auto ended = parse_instant(*job.sbatch_ended_at).value_or(WallTime());
      return asked_at > ended;
    }
    const auto called = parse_instant(*job.sbatch_called_at).value_or(WallTime());
    const auto patience = settings().command_deadline + settings().accounting_grace;
    if (now < called + patience || is_being_submitted(job.submission_id)) return false;
    update(job.id, [&](JobRecord& row) {
      if (!row.sbatch_ended_at) row.sbatch_ended_at = instant_text(now);
    });
    return false;
  }

  // Fails where the folder does not answer: that is no information.
  parser::Result<bool> adopt_by_files(const JobRecord& job) {
    const auto id = job_id_of_folder(job.run_folder);
    if (!id) return tl::unexpected(id.error());
    if (*id) adopt(job, **id);
    return id->has_value();
  }

  bool adopt_by_accounting(const JobRecord& job) {
    const auto created = parse_instant(job.created_at).value_or(WallTime());
    const auto since =
        std::chrono::floor<std::chrono::seconds>(created).time_since_epoch().count() - 60;
    const auto found = poller.slurm_.find_by_folder(job.run_folder, since);
    if (!found || !*found) return false;
    adopt(job, **found);
    return true;
  }

  // The next turn asks for it by its number.
  void adopt(const JobRecord& job, std::int64_t id) {
    update(job.id, [&](JobRecord& row) {
      if (row.job_id) return;
      row.job_id = id;
      take_back(row);
    });
  }

  // A lost job that turned up after all, up to a day later.
  void look_for_lost(const JobRecord& job, const std::vector<ObservedJob>& queue) {
    const ObservedJob* const observed = find_in_queue(queue, job);
    if (observed == nullptr) {
      std::ignore = adopt_by_files(job);
      return;
    }
    observe(job, [&](JobRecord& row) {
      take_back(row);
      apply_observation(row, *observed);
    });
  }

  static void take_back(JobRecord& row) {
    row.trouble.clear();
    if (row.state != JobState::not_submitted) return;
    row.state = JobState::submitting;
    row.is_lost = false;
    row.ended_at.reset();
  }

  void ask_accounting(const std::vector<JobRecord>& missing) {
    if (missing.empty()) return;
    std::vector<std::int64_t> ids;
    ids.reserve(missing.size());
    for (const JobRecord& job : missing) ids.push_back(*job.job_id);
    const auto records = poller.slurm_.sacct(ids);
    for (const JobRecord& job : missing) {
      if (poller.is_stopping()) return;
      const ObservedJob* const accounted = records ? find_in_accounting(*records, job) : nullptr;
      if (accounted != nullptr && is_final(accounted->state)) {
        poller.missing_since_.erase(job.id);
        observe(job, [&](JobRecord& row) { apply_observation(row, *accounted); });
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
    const auto evidence = job_evidence(job);
    if (!evidence && now < since + kUnreadableMax) return;
    if (evidence && *evidence) {
      end(job.id, **evidence, "");
    } else if (!has_waited) {
      return;
    } else {
      end_by_run(job, evidence ? "" : fmt::format(" ({})", evidence.error().message));
    }
    poller.missing_since_.erase(job.id);
  }

  // `why`: its own output could not be read; else empty.
  void end_by_run(const JobRecord& job, const std::string& why) {
    const std::string status = poller.store_.last_run_status(job).value_or("");
    const JobState state = status == "complete" ? JobState::completed
                           : status == "failed" ? JobState::failed
                                                : JobState::ended;
    end(job.id, {state},
        state == JobState::ended
            ? fmt::format("it left the queue, and neither Slurm's accounting nor its own output{} "
                          "says how it ended",
                          why)
            : "Slurm's accounting does not know it; this is what its log says");
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

void Poller::rest() {
  missing_since_.clear();
  misses_.clear();
}

PollOutcome Poller::poll_once(WallTime now) {
  Turn turn{*this, now, {}, {}, {}};
  const std::vector<JobRecord> rows = store_.unfinished(settings_.name);
  turn.outcome.unfinished = rows.size();
  if (rows.empty()) rest();
  if (rows.empty() && now < look_back_at_) return turn.outcome;
  const bool looks_back = now >= look_back_at_;
  const std::vector<JobRecord> ended = ended_but_known(now);
  std::vector<JobRecord> lost;
  if (looks_back) lost = store_.lost_since(settings_.name, instant_text(now - kLostMayTurnUp));
  if (rows.empty() && ended.empty() && lost.empty()) return turn.outcome;
  turn.asked_at = wall_now();
  turn.outcome.asked_at = turn.asked_at;
  const auto queue = slurm_.squeue();
  if (!queue) {
    misses_.clear();  // two answers in a row
    turn.outcome.error = queue.error().message;
    return turn.outcome;
  }
  if (looks_back) look_back_at_ = now + kLookBackInterval;
  for (const JobRecord& job : ended) turn.look_back(job, find_in_queue(*queue, job));
  for (const JobRecord& job : lost) turn.look_for_lost(job, *queue);
  std::vector<JobRecord> missing;
  for (const JobRecord& job : rows) {
    if (is_stopping()) return turn.outcome;
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

PollOutcome Poller::next_turn() {
  try {
    if (store_.follows(settings_.name)) return poll_once();
    rest();
    const std::lock_guard lock(mutex_);
    last_error_.clear();  // what Slurm says by now is told to who has the turns
    last_asked_at_.reset();
    return {};
  } catch (const std::exception& failure) {
    PollOutcome outcome;
    outcome.error = failure.what();
    return outcome;
  }
}

// A turn that asked nothing says nothing of Slurm: what it said last stays. What else went wrong is
// over with the next turn that ends well.
void Poller::learn(const PollOutcome& outcome) {
  const bool has_asked = outcome.asked_at.has_value();
  std::string& told = has_asked ? last_error_ : trouble_;
  if (has_asked && outcome.error.empty() && !told.empty()) {
    spdlog::info("jobs: Slurm answers again");
  } else if (!outcome.error.empty() && outcome.error != told) {
    spdlog::warn("jobs: nothing new from Slurm, asking again: {}", outcome.error);
  }
  told = outcome.error;
  if (!has_asked) return;
  trouble_.clear();
  last_asked_at_ = outcome.asked_at;
}

void Poller::start() {
  thread_ = std::thread([this] {
    std::unique_lock lock(mutex_);
    while (!is_stopping_) {
      lock.unlock();
      const PollOutcome outcome = next_turn();
      lock.lock();
      learn(outcome);
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

bool Poller::is_stopping() const {
  const std::lock_guard lock(mutex_);
  return is_stopping_;
}

std::string Poller::last_error() const {
  const std::lock_guard lock(mutex_);
  return trouble_.empty() ? last_error_ : trouble_;
}

std::optional<WallTime> Poller::last_asked_at() const {
  const std::lock_guard lock(mutex_);
  return last_asked_at_;
}

}  // namespace llmb::dispatch
