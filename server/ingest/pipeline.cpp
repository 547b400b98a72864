#include "server/ingest/pipeline.h"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "server/ingest/timestamps.h"

namespace llmb::ingest {
namespace {

constexpr std::size_t kWritesWaiting = 64;

std::vector<WatchedRoot> register_roots(storage::Writer& writer, const IngestOptions& options) {
  std::vector<std::string> paths;
  std::vector<std::string> clusters;
  for (const RootOptions& root : options.roots) {
    std::string path = canonical_root_path(root.path);
    if (std::find(paths.begin(), paths.end(), path) != paths.end()) continue;
    paths.push_back(std::move(path));
    clusters.push_back(root.cluster);
  }
  auto roots = make_watched_roots(paths);
  for (std::size_t i = 0; i < roots.size(); ++i) {
    roots[i].id = writer.upsert_root(roots[i].path, clusters[i]);
  }
  return roots;
}

}  // namespace

Pipeline::Pipeline(storage::Writer& writer, const IngestOptions& options, const Clock& clock,
                   StatusBoard& status, std::function<void(const RunChange&)> on_change,
                   bool follows)
    : jobs_(static_cast<std::size_t>(std::max(1, options.open_files_max))),
      writes_(kWritesWaiting),
      committer_(writer, writes_, outcomes_, status, std::move(on_change), !follows) {
  auto roots = register_roots(writer, options);
  for (int i = 0; i < std::max(1, options.reader_threads); ++i) {
    workers_.push_back(
        std::make_unique<LogWorker>(options.database.path, clock, stop_, status.bytes_read));
  }
  storage::Reader database(options.database.path);
  for (const storage::RootRecord& record : database.roots()) {
    for (WatchedRoot& root : roots) {
      if (root.id == record.id && record.last_scan_at) {
        root.configs_known_until = parse_rfc3339(*record.last_scan_at);
      }
    }
  }
  discovery_ = std::make_unique<Discovery>(
      std::move(roots), options, Discovery::Links{jobs_, writes_, outcomes_, status, stop_, clock},
      follows);
  discovery_->restore(database.known_files(), database.parked_files());
}

Pipeline::~Pipeline() {
  stop();
}

void Pipeline::start() {
  start_workers();
  discovery_thread_ = std::thread([this] { discovery_->run(); });
}

void Pipeline::run(const std::function<void()>& on_tick) {
  start_workers();
  discovery_->run(on_tick);
  stop_workers();
}

void Pipeline::request_stop() {
  stop_ = true;
  committer_.stop();
  outcomes_.wake();
}

void Pipeline::stop() {
  request_stop();
  if (discovery_thread_.joinable()) discovery_thread_.join();
  stop_workers();
}

void Pipeline::start_workers() {
  writer_thread_ = std::thread([this] {
    committer_.run();
    if (committer_.fatal_error().empty()) return;
    stop_ = true;
    outcomes_.wake();
  });
  for (auto& worker : workers_) {
    readers_.emplace_back([this, &worker] { read(*worker); });
  }
}

void Pipeline::stop_workers() {
  jobs_.close(true);
  for (std::thread& reader : readers_) reader.join();
  readers_.clear();
  writes_.close();
  if (writer_thread_.joinable()) writer_thread_.join();
}

void Pipeline::read(LogWorker& worker) {
  while (auto job = jobs_.pop()) {
    WorkResult result = worker.work(*job);
    if (result.batch || result.configuration) {
      if (!writes_.push(std::move(result))) return;
    } else {
      outcomes_.put(std::move(result.outcome));
    }
  }
}

}  // namespace llmb::ingest
