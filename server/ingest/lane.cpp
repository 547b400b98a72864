#include "server/ingest/lane.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace llmb::ingest {
namespace {

// How long nobody writes a root's runs, at most, after its writer's session has ended.
constexpr std::chrono::milliseconds kLookInterval{1'000};

storage::RootClaim claim_of(const PlannedRoot& planned) {
  return {planned.root.path, planned.cluster, planned.root.paths_left_out()};
}

}  // namespace

Lane::Lane(std::shared_ptr<const IngestParts> parts, std::size_t number,
           std::vector<PlannedRoot> roots, std::unique_ptr<storage::Writer> writer)
    : parts_(std::move(parts)),
      number_(number),
      roots_(std::move(roots)),
      writer_(std::move(writer)),
      claims_(false),
      claim_(storage::ClaimOutcome::taken) {}

Lane::Lane(std::shared_ptr<const IngestParts> parts, std::size_t number, PlannedRoot root)
    : parts_(std::move(parts)),
      number_(number),
      roots_({std::move(root)}),
      writer_(std::make_unique<storage::Writer>(parts_->options.database, claim_of(roots_[0]))),
      claims_(true),
      claim_(writer_->claim_root(parts_->options.inner_root_rest)) {
  if (claim_ == storage::ClaimOutcome::of_another) stand_by();
  if (claim_ == storage::ClaimOutcome::awaits_outer) await_outer();
}

Lane::~Lane() {
  stop();
}

// Two clusters may have trees of one path, of which the second one would take the first one's runs
// for its own.
void Lane::refuse_foreign_tree() {
  const PlannedRoot& own = roots_.front();
  storage::Reader reader(parts_->options.database.path);
  for (const storage::RootRecord& record : reader.roots()) {
    const bool is_it = record.path == own.root.path && record.pushed_from.empty();
    if (!is_it || record.cluster.empty() || own.cluster.empty()) continue;
    if (record.cluster == own.cluster) return;
    throw storage::StorageError(
        storage::StorageError::Kind::constraint,
        fmt::format("the tree {} of cluster {} is watched by another process ({}), and here it is "
                    "one of cluster {}: of two trees of one path one has to be pushed (ingest "
                    "--push).",
                    own.root.path, record.cluster, writer_->root_holder().process, own.cluster));
  }
}

void Lane::stand_by() {
  refuse_foreign_tree();
  const std::string& path = roots_.front().root.path;
  const std::string holder = writer_->root_holder().process;
  if (!parts_->options.stands_by) {
    throw storage::StorageError(
        storage::StorageError::Kind::busy_elsewhere,
        fmt::format("the tree {} is watched by another process already ({}), into the same "
                    "database. Stop that one, leave the tree to it, or stand by (serve "
                    "--stand-by).",
                    path, holder));
  }
  spdlog::info("standing by: the tree {} is watched by another process ({})", path, holder);
  parts_->status->set_standing_by(number_, path);
}

void Lane::await_outer() {
  const std::string& path = roots_.front().root.path;
  const storage::TreeHolder outer = writer_->root_holder();
  spdlog::info("waiting until the tree {}, which another process watches ({}), leaves out {}",
               outer.path, outer.process, path);
  parts_->status->set_standing_by(number_, path);
}

void Lane::start() {
  if (is_claimed()) {
    begin(true);
    tell_left_out();
  }
  if (claims_) thread_ = std::thread([this] { follow_claim(); });
}

// There may be nobody left to read by the time that a tree inside counts as free.
void Lane::start_once() {
  if (claims_ && claim_ != storage::ClaimOutcome::of_another) claim_ = writer_->claim_root();
  if (!is_claimed()) return;
  begin(false);
  tell_left_out();
}

// Not of this process's own roots.
void Lane::tell_left_out() {
  if (!claims_) return;
  std::vector<std::string> others = writer_->trees_left_out();
  const std::vector<std::string> own = roots_.front().root.paths_left_out();
  std::erase_if(others, [&](const std::string& path) {
    return std::find(own.begin(), own.end(), path) != own.end();
  });
  if (others.empty()) return;
  spdlog::info("the tree {} leaves out what another process watches, or did a short while ago: {}",
               roots_.front().root.path, fmt::join(others, ", "));
}

void Lane::begin(bool follows) {
  std::vector<PlannedRoot> roots = roots_;
  for (const std::string& path : writer_->trees_left_out()) roots.front().root.leave_out(path);
  auto pipeline = std::make_shared<Pipeline>(*writer_, parts_, roots, number_, follows);
  parts_->status->set_standing_by(number_, {});
  const std::lock_guard lock(mutex_);
  if (is_stopping_) return;
  pipeline_ = std::move(pipeline);
  pipeline_->start();
}

void Lane::end() {
  std::shared_ptr<Pipeline> pipeline;
  {
    const std::lock_guard lock(mutex_);
    pipeline = std::move(pipeline_);
    pipeline_.reset();
  }
  if (!pipeline) return;
  pipeline->stop();
  fatal_error_ = pipeline->fatal_error();
}

void Lane::follow_claim() {
  std::unique_lock lock(mutex_);
  while (!stopped_.wait_for(lock, kLookInterval, [this] { return is_stopping_; })) {
    lock.unlock();
    try {
      look();
      trouble_.clear();
    } catch (const std::exception& error) {
      if (trouble_ != error.what()) spdlog::warn("{}: {}", roots_[0].root.path, error.what());
      trouble_ = error.what();
    }
    lock.lock();
  }
}

void Lane::look() {
  {
    const std::lock_guard lock(mutex_);
    if (is_stopping_ || (pipeline_ && !pipeline_->is_stopping())) return;
  }
  const std::string& path = roots_.front().root.path;
  const bool is_begun_anew = is_claimed();
  if (is_begun_anew) {
    end();
    claim_ = storage::ClaimOutcome::of_another;
    spdlog::warn("{}; what was not stored yet is read again by whoever writes it now",
                 fatal_error_);
    parts_->status->set_roots(number_, {});
    parts_->status->set_halted(number_, {});
    parts_->status->set_standing_by(number_, path);
  }
  const auto outcome = writer_->claim_root(parts_->options.inner_root_rest);
  if (outcome == storage::ClaimOutcome::taken) begin(true);
  const auto before = claim_.exchange(outcome);
  if (outcome == storage::ClaimOutcome::awaits_outer && before != outcome) await_outer();
  if (outcome != storage::ClaimOutcome::taken || is_begun_anew) return;
  spdlog::info("this process reads the tree {} from now on", path);
  tell_left_out();
}

void Lane::stop() {
  request_stop();
  if (thread_.joinable()) thread_.join();
  end();
  const std::lock_guard lock(mutex_);
  is_stopping_ = false;
}

void Lane::request_stop() {
  const std::lock_guard lock(mutex_);
  is_stopping_ = true;
  stopped_.notify_all();
  if (pipeline_) pipeline_->request_stop();
}

bool Lane::is_over() const {
  const std::lock_guard lock(mutex_);
  if (claim_ == storage::ClaimOutcome::awaits_outer) return is_stopping_;
  return !pipeline_ || pipeline_->is_over();
}

void Lane::wait_a_tick() {
  std::shared_ptr<Pipeline> pipeline;
  {
    std::unique_lock lock(mutex_);
    pipeline = pipeline_;
    const bool may_look = !pipeline && claim_ == storage::ClaimOutcome::awaits_outer;
    if (may_look && stopped_.wait_for(lock, kLookInterval, [this] { return is_stopping_; })) return;
  }
  if (pipeline) return pipeline->wait_a_tick();
  if (claim_ == storage::ClaimOutcome::awaits_outer) start_once();
}

void Lane::ask_for_verdicts(const std::vector<storage::RunId>& runs) {
  const std::lock_guard lock(mutex_);
  if (pipeline_ && !runs.empty()) pipeline_->ask_for_verdicts(runs);
}

bool Lane::write(std::function<void(storage::Writer&)> task) {
  const std::lock_guard lock(mutex_);
  return pipeline_ && pipeline_->write(std::move(task));
}

}  // namespace llmb::ingest
