// DatabaseWatch: for a server that writes nothing itself, the eye on a database that another
// process writes. When something was written, every browser is told to load anew: which run it was,
// nobody says here. It asks one number a second, which works on a PostgreSQL standby, too, where
// sessions cannot LISTEN.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

#include "server/http/event_channel.h"

namespace llmb::api {

// Not thread-safe: one thread makes, starts and stops it.
class DatabaseWatch {
 public:
  // Throws StorageError where the database cannot be read. `events` outlives it.
  DatabaseWatch(std::string database_path, http::EventChannel& events);
  ~DatabaseWatch();  // stops
  DatabaseWatch(const DatabaseWatch&) = delete;
  DatabaseWatch& operator=(const DatabaseWatch&) = delete;

  void start();
  void stop();

 private:
  void run();
  // True: the watch ends.
  bool wait();

  const std::string database_path_;
  http::EventChannel& events_;
  std::int64_t revision_;  // that browsers have been told of
  std::mutex mutex_;       // guards what follows
  std::condition_variable stopped_;
  bool is_stopping_ = false;
  std::thread thread_;
};

}  // namespace llmb::api
