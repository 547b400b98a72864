#include "server/api/database_watch.h"

#include <poll.h>
#include <spdlog/spdlog.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "server/api/change_events.h"
#include "storage/storage_error.h"

namespace llmb::api {
namespace {

using std::chrono::milliseconds;

// Until a session that ended is made anew: at first, and at most.
constexpr milliseconds kListensAfterMin{100};
constexpr milliseconds kListensAfterMax{10'000};
constexpr milliseconds kPollMax{60'000};
// Of those that have come while browsers were told of others.
constexpr std::size_t kChangesAtOnce = 1'024;

milliseconds until(std::chrono::steady_clock::time_point end) {
  const auto left = std::chrono::ceil<milliseconds>(end - std::chrono::steady_clock::now());
  return std::max(left, milliseconds::zero());
}

parser::FileDescriptor make_signal() {
  parser::FileDescriptor signal(eventfd(0, EFD_CLOEXEC));
  if (!signal.is_open()) {
    throw std::system_error(errno, std::generic_category(),
                            "cannot make the descriptor that ends the watch of the database");
  }
  return signal;
}

}  // namespace

DatabaseWatch::DatabaseWatch(std::string database_path, http::EventChannel& events,
                             WatchIntervals intervals)
    : database_path_(std::move(database_path)),
      events_(events),
      intervals_(intervals),
      is_stopping_(make_signal()),
      revision_(storage::Reader(database_path_).data_revision()),
      listens_after_(kListensAfterMin) {}

DatabaseWatch::~DatabaseWatch() {
  stop();
}

void DatabaseWatch::start() {
  thread_ = std::thread([this] { run(); });
}

void DatabaseWatch::stop() {
  eventfd_write(is_stopping_.get(), 1);
  if (thread_.joinable()) thread_.join();
}

bool DatabaseWatch::wait_for(milliseconds time) const {
  const auto end = Clock::now() + time;
  pollfd stopping{is_stopping_.get(), POLLIN, 0};
  do {
    const auto left = std::chrono::ceil<milliseconds>(end - Clock::now());
    const auto waited = std::clamp(left, milliseconds::zero(), kPollMax);
    if (poll(&stopping, 1, static_cast<int>(waited.count())) > 0) return false;
  } while (Clock::now() < end);
  return true;
}

void DatabaseWatch::run() {
  asks_at_ = Clock::now() + intervals_.unheard;
  listens_at_ = Clock::now();
  while (wait_for(milliseconds::zero())) {
    listen();
    wait();
    if (Clock::now() >= asks_at_) ask();
  }
}

void DatabaseWatch::listen() {
  if (listener_ || Clock::now() < listens_at_) return;
  try {
    listener_ = storage::listen_for_changes(database_path_);
    // It may be a server of its own later.
    listens_after_ = listener_ ? kListensAfterMin : kListensAfterMax;
    // For what was committed before somebody listened.
    if (listener_) asks_at_ = Clock::now();
    has_just_begun_ = listener_ != nullptr;
  } catch (const storage::StorageError&) {
    // What is wrong is told by who asks, as long as nobody listens.
    listens_after_ = std::min(2 * listens_after_, kListensAfterMax);
  }
  listens_at_ = Clock::now() + listens_after_;
}

void DatabaseWatch::wait() {
  if (listener_) {
    hear(asks_at_);
  } else {
    wait_for(until(std::min(asks_at_, listens_at_)));
  }
}

void DatabaseWatch::hear(Clock::time_point end) {
  try {
    std::vector<storage::DataChange> changes;
    auto change = listener_->wait(until(end), is_stopping_.get());
    while (change) {
      changes.push_back(std::move(*change));
      if (changes.size() == kChangesAtOnce) break;
      change = listener_->wait(milliseconds::zero(), is_stopping_.get());
    }
    tell(changes);
    for (const storage::DataChange& one : changes) {
      if (one.job && on_job_) on_job_(*one.job);
    }
  } catch (const storage::StorageError& error) {
    spdlog::info("changes of the database are asked for until it can be listened to again: {}",
                 error.what());
    listener_.reset();
    has_missed_jobs_ = on_job_ != nullptr;
    listens_at_ = Clock::now() + listens_after_;
    asks_at_ = std::min(asks_at_, Clock::now() + intervals_.unheard);
  }
}

void DatabaseWatch::ask() {
  try {
    if (!reader_ || !reader_->is_current()) reader_.emplace(database_path_);
    const std::int64_t revision = reader_->data_revision();
    if (std::exchange(is_away_, false)) spdlog::info("the database is read again");
    const bool is_behind = revision < revision_;  // another state took its place
    if (!std::exchange(has_just_begun_, false)) {
      const auto end = Clock::now() + intervals_.on_its_way;
      while (listener_ && revision_ < revision && Clock::now() < end && wait_for({})) hear(end);
    }
    const bool has_missed_jobs = listener_ && std::exchange(has_missed_jobs_, false);
    if (is_behind || revision_ < revision || has_missed_jobs) tell_to_load_anew(revision);
  } catch (const storage::StorageError& error) {
    // Requests are answered 503 meanwhile; another file may stand in its place afterwards.
    reader_.reset();
    if (!std::exchange(is_away_, true)) spdlog::warn("{}", error.what());
  }
  asks_at_ = Clock::now() + (listener_ ? intervals_.heard : intervals_.unheard);
}

void DatabaseWatch::tell(const std::vector<storage::DataChange>& changes) {
  std::vector<storage::RunChange> runs;
  bool are_all_named = true;
  std::int64_t told = revision_;
  for (const storage::DataChange& change : changes) {
    if (change.revision <= told) continue;  // a question has found it
    are_all_named &= change.revision == told + 1 && !change.runs.empty();
    runs.insert(runs.end(), change.runs.begin(), change.runs.end());
    told = change.revision;
  }
  if (told == revision_) return;
  if (!are_all_named || runs.size() > http::EventChannel::kKeptEvents) {
    tell_to_load_anew(told);
    return;
  }
  for (const storage::RunChange& run : runs) publish_change(events_, run);
  revision_ = told;
}

void DatabaseWatch::tell_to_load_anew(std::int64_t revision) {
  revision_ = revision;
  events_.publish("reset", "{}");
  if (listener_) wait_for(intervals_.pause);
}

}  // namespace llmb::api
