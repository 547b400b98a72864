// DatabaseWatch: for a server that writes nothing itself, the eye on a database that another
// process writes. When something was written, every browser is told to load anew: which run it was,
// nobody says here. A PostgreSQL database says itself that a change was committed
// (storage/change_listener.h). A file is asked for one number a second; so is a database while
// nobody listens to it: the session has ended, or the server follows another one, where sessions
// cannot LISTEN.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>

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
  // Between two events of changes that are heard of, at least.
  std::chrono::milliseconds pause{1'000};
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

  void start();
  void stop();

 private:
  using Clock = std::chrono::steady_clock;

  void run();
  // False: the watch ends.
  bool wait_for(std::chrono::milliseconds time) const;
  // Tries to listen, where it is time to.
  void listen();
  // Until something is heard of, or the database is to be asked.
  void hear();
  void ask();
  void tell(std::int64_t revision);

  const std::string database_path_;
  http::EventChannel& events_;
  const WatchIntervals intervals_;
  parser::FileDescriptor is_stopping_;  // can be read from the end of the watch on
  std::thread thread_;
  // Of the thread.
  std::int64_t revision_;  // that browsers have been told of
  std::optional<storage::Reader> reader_;
  bool is_away_ = false;
  std::unique_ptr<storage::ChangeListener> listener_;
  Clock::time_point listens_at_;  // no earlier
  std::chrono::milliseconds listens_after_;
  Clock::time_point asks_at_;
};

}  // namespace llmb::api
