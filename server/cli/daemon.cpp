#include "server/cli/daemon.h"

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "server/api/api.h"
#include "server/api/change_events.h"
#include "server/api/database_watch.h"
#include "server/dispatch/dispatcher.h"
#include "server/dispatch/poller.h"
#include "server/dispatch/send_queue.h"
#include "server/http/static_files.h"
#include "storage/database_place.h"
#include "storage/job_store.h"
#include "web/assets.h"

namespace llmb::cli {
namespace {

std::vector<http::StaticFile> dashboard_files() {
  std::vector<http::StaticFile> files;
  for (const web::File& file : web::files()) {
    files.push_back({file.path, file.content_type, file.bytes, file.is_immutable});
  }
  return files;
}

// What a process changes comes back with what others do, in the order of the database.
bool hears_of_changes(const DaemonOptions& options) {
  return options.reads_only || storage::admits_several_writers(options.ingest.database.path);
}

// The jobs of one cluster: submitted by requests, followed by a thread of their own.
struct Jobs {
  Jobs(const DaemonOptions& options, http::EventChannel& all_events)
      : settings(*options.cluster),
        catalog(options.catalog),
        store(options.ingest.database),
        events(all_events),
        changed(hears_of_changes(options) ? dispatch::JobChanged()
                                          : [this](const auto& job) { tell_of(job); }),
        runner(settings),
        dispatcher(settings, recipes(), store, runner, changed),
        sender(settings, recipes(), store, runner, changed),
        queue(settings, store, sender),
        poller(settings, store, changed) {}

  const parser::Catalog& recipes() const { return catalog ? *catalog : parser::embedded_catalog(); }
  void start() {
    queue.start();
    poller.start();
  }
  void stop() {
    queue.stop();
    poller.stop();
  }
  void tell_of(const storage::JobRecord& job) {
    const std::vector<storage::RunId> runs = store.runs_of(job);
    api::publish_job_change(events, job, runs);
    if (judge_again) judge_again(runs);
  }
  // Somebody has changed it.
  void hear_of(storage::JobRowId id) {
    const auto job = store.job(id);
    if (job && job->cluster == settings.name) tell_of(*job);
  }
  void tell_of_change() {
    queue.wake();
    poller.wake();
  }

  const dispatch::ClusterSettings settings;
  const std::shared_ptr<const parser::Catalog> catalog;
  storage::JobStore store;
  http::EventChannel& events;
  // Of the runs of a job that changed: it may have ended. To be set before start().
  std::function<void(const std::vector<storage::RunId>&)> judge_again;
  const dispatch::JobChanged changed;
  dispatch::RunnerProbe runner;
  dispatch::Dispatcher dispatcher;
  dispatch::JobSender sender;
  dispatch::SendQueue queue;
  dispatch::Poller poller;
};

}  // namespace

// In the order of dependence: each refers to those before it only, but for the API's view of the
// server's counters, which exists before the server answers anything.
struct Daemon::Parts {
  explicit Parts(const DaemonOptions& options)
      : jobs(options.cluster ? std::make_unique<Jobs>(options, events) : nullptr),
        ingest(options.reads_only ? nullptr : make_ingest(options)),
        retention(ingest && !options.retention.empty() ? make_retention(options) : nullptr),
        watch(hears_of_changes(options)
                  ? std::make_unique<api::DatabaseWatch>(options.ingest.database.path, events)
                  : nullptr),
        tokens(options.receives && !jobs
                   ? std::make_unique<storage::JobStore>(options.ingest.database)
                   : nullptr),
        dashboard(dashboard_files()),
        api(api_options(options)) {
    if (jobs) {
      jobs->judge_again = [this](const std::vector<storage::RunId>& runs) {
        ingest->ask_for_verdicts(runs);
      };
    }
    if (jobs && watch) watch->on_job([this](storage::JobRowId id) { jobs->hear_of(id); });
    if (watch && options.reads_only) tell_of_jobs(options.ingest.database);
    api.add_routes(router);
    router.set_fallback([this](const http::Request& request) { return dashboard.serve(request); });
    server.emplace(options.http, router);
  }

  // Those that another process submits and follows. One session serves all of a turn; a new one is
  // made where it failed.
  void tell_of_jobs(const storage::OpenOptions& database) {
    watch->on_job([this, database,
                   store = std::shared_ptr<storage::JobStore>()](storage::JobRowId id) mutable {
      try {
        if (!store) store = std::make_shared<storage::JobStore>(database, storage::JobAccess::read);
        const auto job = store->job(id);
        if (job) api::publish_job_change(events, *job, store->runs_of(*job));
      } catch (const storage::StorageError&) {
        store.reset();
        throw;
      }
    });
  }

  std::unique_ptr<ingest::Ingest> make_ingest(const DaemonOptions& options) {
    ingest::IngestOptions ingest_options = options.ingest;
    ingest_options.catalog = options.catalog;
    ingest_options.stands_by = options.stands_by;
    std::function<void(const storage::RunChange&)> on_change;
    if (!hears_of_changes(options)) {
      on_change = [this](const storage::RunChange& change) { api::publish_change(events, change); };
    }
    return std::make_unique<ingest::Ingest>(std::move(ingest_options), std::move(on_change));
  }

  std::unique_ptr<ingest::Retention> make_retention(const DaemonOptions& options) {
    return std::make_unique<ingest::Retention>(
        options.retention,
        ingest::Retention::Links{options.ingest.database.path,
                                 [this](std::function<void(storage::Writer&)> task) {
                                   return ingest->write(std::move(task));
                                 },
                                 [this] { return ingest->status().first_scan_done; },
                                 [this] {
                                   if (!watch) events.publish("reset", "{}");
                                 }});
  }

  // Of a server that watches nothing: nothing is left to do.
  ingest::IngestStatus ingest_status() const {
    ingest::IngestStatus nothing_to_do;
    nothing_to_do.first_scan_done = true;
    return ingest ? ingest->status() : nothing_to_do;
  }

  api::ApiOptions api_options(const DaemonOptions& options) {
    api::ApiOptions result;
    result.database_path = options.ingest.database.path;
    result.ingest_status = [this] { return ingest_status(); };
    result.server_counters = [this] { return server->counters(); };
    if (retention) result.retention_status = [this] { return retention->status(); };
    result.events = &events;
    result.version = options.version;
    result.reads_only = options.reads_only;
    result.catalog = options.catalog;
    result.cors_origins = options.cors_origins;
    result.tokens = jobs ? &jobs->store : tokens.get();
    if (options.receives) {
      result.write = [this](std::function<void(storage::Writer&)> task) {
        return ingest->write(std::move(task));
      };
    }
    if (jobs) {
      result.dispatcher = &jobs->dispatcher;
      result.jobs = &jobs->store;
      result.submitters = options.submitters;
      result.slurm_error = [this] { return jobs->poller.last_error(); };
      result.slurm_asked_at = [this] {
        const auto asked_at = jobs->poller.last_asked_at();
        return asked_at ? dispatch::instant_text(*asked_at) : std::string();
      };
      result.jobs_changed = [this] { jobs->tell_of_change(); };
    }
    return result;
  }

  http::EventChannel events;
  const std::unique_ptr<Jobs> jobs;
  const std::unique_ptr<ingest::Ingest> ingest;  // null: of a server that reads only
  const std::unique_ptr<ingest::Retention> retention;
  const std::unique_ptr<api::DatabaseWatch> watch;  // null: no other process writes
  const std::unique_ptr<storage::JobStore> tokens;  // where jobs have none
  const http::StaticFiles dashboard;
  api::Api api;
  http::Router router;
  std::optional<http::Server> server;
};

Daemon::Daemon(const DaemonOptions& options) : parts_(std::make_unique<Parts>(options)) {}

Daemon::~Daemon() {
  stop();
}

void Daemon::start() {
  parts_->server->start();
  if (parts_->ingest) parts_->ingest->start();
  if (parts_->retention) parts_->retention->start();
  if (parts_->watch) parts_->watch->start();
  if (parts_->jobs) parts_->jobs->start();
  parts_->server->run_in_background([api = &parts_->api](const std::function<bool()>& is_stopping) {
    api->measure_ahead(is_stopping);
  });
}

void Daemon::stop() {
  if (parts_->jobs) parts_->jobs->stop();
  if (parts_->watch) parts_->watch->stop();
  if (parts_->retention) parts_->retention->stop();
  if (parts_->ingest) parts_->ingest->stop();
  parts_->server->stop();
}

std::uint16_t Daemon::port() const {
  return parts_->server->port();
}

}  // namespace llmb::cli
