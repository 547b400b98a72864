#include "server/ingest/ingest.h"

#include <spdlog/spdlog.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "server/ingest/listed_result.h"
#include "server/ingest/pipeline.h"
#include "server/ingest/status_board.h"
#include "server/ingest/vanished_runs.h"

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

}  // namespace

struct Ingest::Impl {
  Impl(IngestOptions ingest_options, std::function<void(const storage::RunChange&)> change)
      : options(std::move(ingest_options)),
        on_change(std::move(change)),
        clock(options.clock ? options.clock : std::make_shared<const Clock>()),
        writer(saying_what_is_packed(options.database)) {
    const parser::Catalog& catalog =
        options.catalog ? *options.catalog : parser::embedded_catalog();
    bring_lists_up_to_date(writer, options.database.path, catalog);
    judge_vanished_runs(writer, options.database.path, catalog);
  }

  IngestOptions options;
  std::function<void(const storage::RunChange&)> on_change;
  std::shared_ptr<const Clock> clock;
  storage::Writer writer;
  const std::shared_ptr<StatusBoard> status = std::make_shared<StatusBoard>();
  std::mutex mutex;  // guards the pointer; the Pipeline itself may be told to stop by anybody
  std::unique_ptr<Pipeline> pipeline;
  bool stop_is_requested = false;
};

Ingest::Ingest(IngestOptions options, std::function<void(const storage::RunChange&)> on_change)
    : impl_(std::make_unique<Impl>(std::move(options), std::move(on_change))) {}

Ingest::~Ingest() {
  stop();
}

void Ingest::start() {
  const std::lock_guard lock(impl_->mutex);
  if (impl_->pipeline) throw std::logic_error("ingest was started already");
  impl_->pipeline = std::make_unique<Pipeline>(impl_->writer, impl_->options, impl_->clock,
                                               impl_->status, impl_->on_change, true);
  impl_->pipeline->start();
}

void Ingest::stop() {
  std::unique_ptr<Pipeline> pipeline;
  {
    const std::lock_guard lock(impl_->mutex);
    pipeline = std::move(impl_->pipeline);
  }
  if (pipeline) pipeline->stop();
}

void Ingest::request_stop() {
  const std::lock_guard lock(impl_->mutex);
  impl_->stop_is_requested = true;
  if (impl_->pipeline) impl_->pipeline->request_stop();
}

void Ingest::ask_for_verdicts(const std::vector<storage::RunId>& runs) {
  const std::lock_guard lock(impl_->mutex);
  if (impl_->pipeline && !runs.empty()) impl_->pipeline->ask_for_verdicts(runs);
}

bool Ingest::write(std::function<void(storage::Writer&)> task) {
  const std::lock_guard lock(impl_->mutex);
  return impl_->pipeline && impl_->pipeline->write(std::move(task));
}

void Ingest::run_once(const std::function<void(const IngestStatus&)>& on_progress) {
  Pipeline* pipeline = nullptr;
  {
    const std::lock_guard lock(impl_->mutex);
    if (impl_->pipeline) throw std::logic_error("ingest was started already");
    if (impl_->stop_is_requested) return;
    impl_->pipeline = std::make_unique<Pipeline>(impl_->writer, impl_->options, impl_->clock,
                                                 impl_->status, impl_->on_change, false);
    pipeline = impl_->pipeline.get();
  }
  pipeline->run([&] {
    if (on_progress) on_progress(impl_->status->read());
  });
  const std::string fatal_error = pipeline->fatal_error();
  stop();
  if (on_progress) on_progress(impl_->status->read());
  if (!fatal_error.empty()) throw std::runtime_error(fatal_error);
}

IngestStatus Ingest::status() const {
  return impl_->status->read();
}

}  // namespace llmb::ingest
