#include "server/ingest/pipeline.h"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "parser/foundation/instant.h"
#include "server/ingest/abandoned_call.h"
#include "server/ingest/vanished_runs.h"

namespace llmb::ingest {
namespace {

constexpr std::size_t kWritesWaiting = 64;
constexpr std::chrono::milliseconds kBetweenTicks{50};
constexpr std::chrono::seconds kPatience{2};

std::vector<WatchedRoot> register_roots(storage::Writer& writer, const IngestOptions& options) {
  std::vector<std::string> paths;
  std::vector<const RootOptions*> wanted;  // of each path
  std::vector<std::string> unanswered;
  for (const RootOptions& root : options.roots) {
    auto canonical =
        answer_within(kPatience, [path = root.path] { return canonical_root_path(path); });
    std::string path = canonical.value_or(absolute_root_path(root.path));
    if (!canonical) unanswered.push_back(path);
    if (std::find(paths.begin(), paths.end(), path) != paths.end()) continue;
    paths.push_back(std::move(path));
    wanted.push_back(&root);
  }
  auto roots = make_watched_roots(paths);
  for (std::size_t i = 0; i < roots.size(); ++i) {
    roots[i].id = writer.upsert_root(roots[i].path, wanted[i]->cluster);
    roots[i].parts = wanted[i]->parts;
    roots[i].path_is_canonical =
        std::find(unanswered.begin(), unanswered.end(), roots[i].path) == unanswered.end();
  }
  return roots;
}

}  // namespace

Pipeline::Pipeline(storage::Writer& writer, const IngestOptions& options,
                   std::shared_ptr<const Clock> clock, std::shared_ptr<StatusBoard> status,
                   std::function<void(const storage::RunChange&)> on_change, bool follows)
    : shared_(std::make_shared<SharedByRoots>(options, std::move(clock), std::move(status),
                                              kWritesWaiting)),
      committer_(
          writer, shared_->writes, *shared_->status, std::move(on_change),
          [place = options.database.path, catalog = options.catalog](storage::Writer& own) {
            judge_vanished_runs(own, place, catalog ? *catalog : parser::embedded_catalog());
          },
          !follows) {
  auto roots = register_roots(writer, options);
  storage::Reader database(options.database.path);
  for (const storage::RootRecord& record : database.roots()) {
    for (WatchedRoot& root : roots) {
      if (root.id == record.id && record.last_scan_at) {
        root.configs_known_until = parser::parse_instant(*record.last_scan_at);
      }
    }
  }
  const KnownLogs known = {database.known_files(), database.removed_logs(),
                           database.parked_files()};
  std::vector<std::shared_ptr<RootActivity>> activities;
  const auto root_count = static_cast<int>(roots.size());
  for (WatchedRoot& root : roots) {
    auto worker = std::make_shared<RootWorker>(shared_, std::move(root), root_count, follows);
    worker->restore(known);
    activities.push_back(worker->activity());
    roots_.push_back(std::move(worker));
  }
  shared_->status->set_roots(std::move(activities));
}

Pipeline::~Pipeline() {
  stop();
}

void Pipeline::start() {
  writer_thread_ = std::thread([this] {
    committer_.run();
    if (!committer_.fatal_error().empty()) request_stop();
  });
  for (const auto& root : roots_) root->start();
}

void Pipeline::run(const std::function<void()>& on_tick) {
  start();
  while (!is_over()) {
    if (on_tick) on_tick();
    std::unique_lock lock(shared_->mutex);
    shared_->a_thread_ended.wait_for(lock, kBetweenTicks, [this] { return is_over(); });
  }
  stop();
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
