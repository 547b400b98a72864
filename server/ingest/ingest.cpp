#include "server/ingest/ingest.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "server/ingest/lane.h"
#include "server/ingest/listed_result.h"
#include "storage/database_place.h"

namespace llmb::ingest {
namespace {

constexpr std::chrono::seconds kBetweenLines{2};

// To pack a large database of an earlier version takes minutes, once.
storage::OpenOptions saying_what_is_packed(storage::OpenOptions database) {
  const auto start = std::chrono::steady_clock::now();
  database.on_old_steps = [next = start + kBetweenLines](std::int64_t runs) mutable {
    const auto now = std::chrono::steady_clock::now();
    if (now < next) return;
    next = now + kBetweenLines;
    spdlog::info("packing the steps of logs that have settled: {} runs", runs);
  };
  return database;
}

std::shared_ptr<const IngestParts> parts_of(
    IngestOptions options, std::function<void(const storage::RunChange&)> on_change,
    std::size_t root_count) {
  auto clock = options.clock ? options.clock : std::make_shared<const Clock>();
  return std::make_shared<const IngestParts>(IngestParts{
      std::move(options), std::move(clock), std::move(on_change), static_cast<int>(root_count)});
}

}  // namespace

struct Ingest::Impl {
  Impl(IngestOptions options, std::function<void(const storage::RunChange&)> on_change) {
    auto writer = std::make_unique<storage::Writer>(saying_what_is_packed(options.database));
    bring_lists_up_to_date(*writer, options.database.path,
                           options.catalog ? *options.catalog : parser::embedded_catalog());
    auto roots = plan_roots(options.roots);
    parts =
        parts_of(std::move(options), std::move(on_change), std::max<std::size_t>(1, roots.size()));
    if (!storage::admits_several_writers(parts->options.database.path)) {
      lanes.push_back(std::make_unique<Lane>(parts, 0, std::move(roots), std::move(writer)));
      return;
    }
    lanes.push_back(
        std::make_unique<Lane>(parts, 0, std::vector<PlannedRoot>(), std::move(writer)));
    for (PlannedRoot& root : roots) {
      lanes.push_back(std::make_unique<Lane>(parts, lanes.size(), std::move(root)));
    }
  }

  void begin() {
    if (is_started) throw std::logic_error("ingest was started already");
    is_started = true;
  }

  std::shared_ptr<const IngestParts> parts;
  // The first writes what belongs to no root.
  std::vector<std::unique_ptr<Lane>> lanes;
  std::atomic<bool> is_started = false;
  std::atomic<bool> stop_is_requested = false;
};

Ingest::Ingest(IngestOptions options, std::function<void(const storage::RunChange&)> on_change)
    : impl_(std::make_unique<Impl>(std::move(options), std::move(on_change))) {}

Ingest::~Ingest() {
  stop();
}

void Ingest::start() {
  impl_->begin();
  for (const auto& lane : impl_->lanes) lane->start();
  impl_->parts->status->begin();
}

void Ingest::stop() {
  for (const auto& lane : impl_->lanes) lane->request_stop();
  for (const auto& lane : impl_->lanes) lane->stop();
  impl_->is_started = false;
}

void Ingest::request_stop() {
  impl_->stop_is_requested = true;
  for (const auto& lane : impl_->lanes) lane->request_stop();
}

void Ingest::ask_for_verdicts(const std::vector<storage::RunId>& runs) {
  for (const auto& lane : impl_->lanes) lane->ask_for_verdicts(runs);
}

bool Ingest::write(std::function<void(storage::Writer&)> task) {
  return impl_->lanes.front()->write(std::move(task));
}

void Ingest::run_once(const std::function<void(const IngestStatus&)>& on_progress) {
  const auto tell = [&] {
    if (on_progress) on_progress(impl_->parts->status->read());
  };
  impl_->begin();
  if (impl_->stop_is_requested) return;
  for (const auto& lane : impl_->lanes) lane->start_once();
  impl_->parts->status->begin();
  for (const auto& lane : impl_->lanes) {
    while (!lane->is_over()) {
      tell();
      lane->wait_a_tick();
    }
  }
  stop();
  tell();
  for (const auto& lane : impl_->lanes) {
    if (!lane->fatal_error().empty()) throw std::runtime_error(lane->fatal_error());
  }
}

IngestStatus Ingest::status() const {
  return impl_->parts->status->read();
}

}  // namespace llmb::ingest
