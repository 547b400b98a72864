#include "server/cli/standing_by.h"

#include <spdlog/spdlog.h>

#include <chrono>
#include <utility>

#include "storage/storage_error.h"

namespace llmb::cli {
namespace {

// How long nobody writes, at most, after a writer has ended.
constexpr std::chrono::milliseconds kLookInterval{1'000};

// Null where another process writes.
std::unique_ptr<Daemon> make_writer(const DaemonOptions& options) {
  try {
    return std::make_unique<Daemon>(options);
  } catch (const storage::StorageError& error) {
    const bool waits =
        options.stands_by && error.kind == storage::StorageError::Kind::busy_elsewhere;
    if (!waits) throw;
    return nullptr;
  }
}

DaemonOptions reading_only(DaemonOptions options) {
  options.reads_only = true;
  options.receives = false;
  options.cluster.reset();
  options.ingest.roots.clear();
  return options;
}

}  // namespace

std::unique_ptr<Daemon> daemon_that_may_write(
    DaemonOptions options, const StopSignals& signals,
    const std::function<void(const DaemonOptions&, std::uint16_t)>& announce) {
  if (auto writer = make_writer(options)) return writer;
  const DaemonOptions read_only = reading_only(options);
  Daemon reader(read_only);
  reader.start();
  options.http.port = reader.port();
  announce(read_only, options.http.port);
  while (signals.wait(kLookInterval) == 0) {
    auto writer = make_writer(options);
    if (!writer) continue;
    spdlog::info("the process that wrote the database has ended; this one takes over");
    return writer;
  }
  return nullptr;
}

}  // namespace llmb::cli
