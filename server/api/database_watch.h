// DatabaseWatch: the eye on a database that other processes write. A PostgreSQL database says
// itself which runs a commit changed (storage/change_listener.h), and browsers are told as the
// writer tells its own. A file is asked for one number a second; so is a database while nobody
// listens to it: the session has ended, or the server follows another one, where sessions cannot
// LISTEN. Then, and where too much changed to be named, every browser is told to load anew.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "parser/foundation/file_descriptor.h"
#include "server/http/event_channel.h"
#include "storage/change_listener.h"
#include "storage/database.h"

namespace llmb::api {

struct WatchIntervals {
  // Between two questions where changes are not heard of.
  std::chrono::milliseconds unheard{1'000};
  // The same where they are: a connection that a firewall dropped says nothing for minutes, and an
  // earlier version of the program writes without a word.
  std::chrono::milliseconds heard{10'000};
  // After browsers were told to load anew, until the next event.
  std::chrono::milliseconds pause{1'000};
  // What was committed is heard of no later than this after a question has found it.
  std::chrono::milliseconds on_its_way{1'000};
};

// Not thread-safe: one thread makes, starts and stops it.
class DatabaseWatch {
 public:
  // Throws StorageError where the database cannot be read. `events` outlives it.
  DatabaseWatch(std::string database_path, http::EventChannel& events,
                WatchIntervals intervals = {});
  ~DatabaseWatch();  // stops
  DatabaseWatch(const DatabaseWatch&) = delete;
  DatabaseWatch& operator=(const DatabaseWatch&) = delete;

  // Called on the watch's thread when another process, or this one, has changed a job, in a
  // database that tells of it. Before start().
  void on_job(std::function<void(storage::JobRowId)> react) { on_job_ = std::move(react); }

  void start();
  void stop();

 private:
  using Clock = std::chrono::steady_clock;

  void run();
  // False: the watch ends.
  bool wait_for(std::chrono::milliseconds time) const;
  // Tries to listen, where it is time to.
  void listen();
  // Waits until it is time to ask, or to listen anew, or something was heard of and told.
  void wait();
  // Waits until `end` for something to be heard of, and tells all that was.
  void hear(Clock::time_point end);
  void ask();
  // Tells of changes in the order in which they were announced.
  void tell(const std::vector<storage::DataChange>& changes);
  void tell_to_load_anew(std::int64_t revision);

  const std::string database_path_;
  http::EventChannel& events_;
  const WatchIntervals intervals_;
  std::function<void(storage::JobRowId)> on_job_;  // may be none
  parser::FileDescriptor is_stopping_;             // can be read from the end of the watch on
  std::thread thread_;
  // Of the thread.
  std::int64_t revision_;  // that browsers have been told of
  std::optional<storage::Reader> reader_;
  bool is_away_ = false;
  std::unique_ptr<storage::ChangeListener> listener_;
  bool has_just_begun_ = false;   // to listen: nothing before that is heard of
  bool has_missed_jobs_ = false;  // some may have changed while nobody listened
  Clock::time_point listens_at_;  // no earlier
  std::chrono::milliseconds listens_after_;
  Clock::time_point asks_at_;
};

}  // namespace llmb::api
