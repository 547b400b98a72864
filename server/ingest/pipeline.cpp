#include "server/ingest/pipeline.h"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "parser/foundation/instant.h"
#include "server/ingest/vanished_runs.h"

namespace llmb::ingest {
namespace {

constexpr std::size_t kWritesWaiting = 64;
constexpr std::chrono::milliseconds kBetweenTicks{50};

// In the order given.
std::vector<WatchedRoot> register_roots(storage::Writer& writer, storage::Reader& database,
                                        const std::vector<PlannedRoot>& planned) {
  std::vector<WatchedRoot> roots;
  for (const PlannedRoot& one : planned) {
    roots.push_back(one.root);
    roots.back().id = writer.upsert_root(one.root.path, one.cluster);
  }
  for (const WatchedRoot& root : roots) writer.gather_runs(root.id, root.paths_left_out());
  for (const storage::RootRecord& record : database.roots()) {
    for (WatchedRoot& root : roots) {
      if (root.id == record.id && record.last_scan_at) {
        root.configs_known_until = parser::parse_instant(*record.last_scan_at);
      }
    }
  }
  return roots;
}

}  // namespace

Pipeline::Pipeline(storage::Writer& writer, const std::shared_ptr<const IngestParts>& parts,
                   const std::vector<PlannedRoot>& roots, std::size_t lane, bool follows)
    : shared_(std::make_shared<SharedByRoots>(parts, kWritesWaiting)),
      committer_(
          writer, shared_->writes, *parts->status, lane, parts->on_change,
          [this](storage::Writer& own) { judge_vanished(own); }, !follows) {
  std::vector<std::shared_ptr<RootActivity>> activities;
  if (!roots.empty()) {
    storage::Reader database(parts->options.database.path);
    auto watched = register_roots(writer, database, roots);
    const KnownLogs known = {
        watched.size() == 1 ? database.known_files(watched.front().id) : database.known_files(),
        database.removed_logs(), database.parked_files()};
    for (const WatchedRoot& root : watched) root_ids_.push_back(root.id);
    judge_vanished(writer);
    for (WatchedRoot& root : watched) {
      auto worker = std::make_shared<RootWorker>(shared_, std::move(root), follows);
      worker->restore(known);
      activities.push_back(worker->activity());
      roots_.push_back(std::move(worker));
    }
  }
  parts->status->set_roots(lane, std::move(activities));
}

Pipeline::~Pipeline() {
  stop();
}

void Pipeline::judge_vanished(storage::Writer& writer) {
  const IngestOptions& options = shared_->all->options;
  judge_vanished_runs(writer, options.database.path,
                      options.catalog ? *options.catalog : parser::embedded_catalog(), root_ids_);
}

void Pipeline::start() {
  writer_thread_ = std::thread([this] {
    committer_.run();
    if (!committer_.fatal_error().empty()) request_stop();
  });
  for (const auto& root : roots_) root->start();
}

void Pipeline::wait_a_tick() {
  std::unique_lock lock(shared_->mutex);
  shared_->a_thread_ended.wait_for(lock, kBetweenTicks, [this] { return is_over(); });
}

bool Pipeline::is_over() const {
  return stop_.load() || std::all_of(roots_.begin(), roots_.end(),
                                     [](const auto& root) { return root->is_done_or_given_up(); });
}

void Pipeline::request_stop() {
  stop_ = true;
  committer_.stop();
  for (const auto& root : roots_) root->request_stop();
  shared_->a_thread_ended.notify_all();
}

void Pipeline::ask_for_verdicts(const std::vector<storage::RunId>& runs) {
  for (const auto& root : roots_) root->ask_for_verdicts(runs);
}

bool Pipeline::write(std::function<void(storage::Writer&)> task) {
  return shared_->writes.push_where_there_is_room(std::move(task));
}

void Pipeline::stop() {
  request_stop();
  for (const auto& root : roots_) root->end();
  shared_->writes.close();
  if (writer_thread_.joinable()) writer_thread_.join();
}

}  // namespace llmb::ingest
