#include "server/api/database_watch.h"

#include <spdlog/spdlog.h>

#include <chrono>
#include <optional>
#include <utility>

#include "storage/database.h"
#include "storage/storage_error.h"

namespace llmb::api {
namespace {

constexpr std::chrono::milliseconds kInterval{1'000};

}  // namespace

DatabaseWatch::DatabaseWatch(std::string database_path, http::EventChannel& events)
    : database_path_(std::move(database_path)),
      events_(events),
      revision_(storage::Reader(database_path_).data_revision()) {}

DatabaseWatch::~DatabaseWatch() {
  stop();
}

void DatabaseWatch::start() {
  thread_ = std::thread([this] { run(); });
}

void DatabaseWatch::stop() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  stopped_.notify_all();
  if (thread_.joinable()) thread_.join();
}

bool DatabaseWatch::wait() {
  std::unique_lock lock(mutex_);
  return stopped_.wait_for(lock, kInterval, [this] { return is_stopping_; });
}

void DatabaseWatch::run() {
  std::optional<storage::Reader> reader;
  bool is_away = false;
  while (!wait()) {
    try {
      if (!reader) reader.emplace(database_path_);
      const std::int64_t revision = reader->data_revision();
      if (std::exchange(is_away, false)) spdlog::info("the database is read again");
      if (std::exchange(revision_, revision) != revision) events_.publish("reset", "{}");
    } catch (const storage::StorageError& error) {
      // Requests are answered 503 meanwhile; another file may stand in its place afterwards.
      reader.reset();
      if (!std::exchange(is_away, true)) spdlog::warn("{}", error.what());
    }
  }
}

}  // namespace llmb::api
