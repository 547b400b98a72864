#include "server/cli/commands.h"

#include <spdlog/spdlog.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "server/cli/catalog_option.h"
#include "server/cli/daemon.h"
#include "server/cli/exit_codes.h"
#include "server/cli/listen_address.h"
#include "server/cli/log_level.h"
#include "server/cli/serve_settings.h"
#include "server/cli/standing_by.h"
#include "server/cli/stop_deadline.h"
#include "server/cli/stop_signals.h"
#include "server/cli/version.h"
#include "server/cli/watched_trees.h"
#include "server/dispatch/runner_place.h"
#include "storage/database_place.h"

namespace llmb::cli {
namespace {

struct ServeArguments {
  std::string configuration_file;
  std::vector<std::string> roots;
  std::string listen;
  std::string database;
  std::string catalog_file;
  std::string gpu_type;
  std::string log_level;
  std::string tls_certificate_file;
  std::string tls_key_file;
  bool behind_proxy = false;
  bool receive = false;
  bool read_only = false;
  bool stand_by = false;
  bool anew = false;
  bool allow_network_file_system = false;
  std::vector<std::string> allowed_hosts;
  std::vector<std::string> cors_origins;
};

constexpr const char* kServeExamples = R"(Examples:
  llmb-report serve $LLMB_WORKLOAD
  llmb-report serve --listen 127.0.0.1:0 --db runs.db /data/cluster-a /data/cluster-b
  llmb-report serve --config /etc/llmb-report.yaml
  llmb-report serve --listen 0.0.0.0:8642 --tls-cert server.pem --tls-key server.key
  llmb-report serve --receive --db central.db --listen 0.0.0.0:8642 --tls-cert … --tls-key …
  llmb-report serve --read-only --db postgresql://reports@standby.example/reports

Without a ROOT: the configuration's roots, else $LLMB_WORKLOAD, else the older $STAGE_PATH, else
every folder in $LLMB_INSTALL/workloads; and with all of them the workload_folder of the
configuration's cluster, where jobs' runs go. Command line counts before file, file before
environment.
)";

std::optional<std::string> set_or_nothing(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional(text);
}
std::optional<bool> set_or_nothing(bool flag) {
  return flag ? std::optional(true) : std::nullopt;
}

ServeSettings settings_of(const ServeArguments& arguments) {
  ServeSettings settings;
  settings.roots = roots_at(arguments.roots);
  settings.listen = set_or_nothing(arguments.listen);
  settings.catalog_file = set_or_nothing(arguments.catalog_file);
  settings.database = set_or_nothing(arguments.database);
  settings.tls_certificate_file = set_or_nothing(arguments.tls_certificate_file);
  settings.tls_key_file = set_or_nothing(arguments.tls_key_file);
  settings.behind_proxy = set_or_nothing(arguments.behind_proxy);
  settings.receive = set_or_nothing(arguments.receive);
  settings.read_only = set_or_nothing(arguments.read_only);
  settings.stand_by = set_or_nothing(arguments.stand_by);
  settings.anew = set_or_nothing(arguments.anew);
  settings.allow_network_file_system = set_or_nothing(arguments.allow_network_file_system);
  settings.allowed_hosts = arguments.allowed_hosts;
  settings.cors_origins = arguments.cors_origins;
  return settings;
}

// What is watched, and the jobs of whose cluster.
void choose_sources(const ServeSettings& settings, DaemonOptions& options) {
  options.receives = settings.receive.value_or(false);
  options.reads_only = settings.read_only.value_or(false);
  options.stands_by = settings.stand_by.value_or(false);
  if (options.reads_only) {
    const bool writes = !settings.roots.empty() || options.receives || settings.cluster ||
                        !settings.retention.empty();
    if (!writes && !options.stands_by) return;
    throw BadConfiguration(
        "--read-only serves what another process writes into the database: leave out the trees to "
        "watch, --receive, --stand-by and the configuration's cluster and retention here, or "
        "--read-only");
  }
  std::optional<ingest::RootOptions> of_jobs;
  if (settings.cluster) {
    options.cluster = settings.cluster->settings;
    options.submitters = settings.cluster->submitters;
    const auto completed = complete_cluster(*options.cluster);
    if (!completed) throw BadConfiguration(completed.error().message);
    const auto note = dispatch::place_runner(*options.cluster, dispatch::CopyRunner::make);
    if (!note) throw BadConfiguration(note.error().message);
    if (!note->empty()) std::cerr << "llmb-report serve: " << *note << '\n';
    of_jobs = {options.cluster->workload_folder, options.cluster->name};
  }
  std::vector<std::string> notes;
  options.ingest.roots = choose_roots(settings.roots, notes, of_jobs);
  note_missing_roots(options.ingest.roots, notes);
  for (const std::string& note : notes) std::cerr << "llmb-report serve: " << note << '\n';
}

DaemonOptions daemon_options(const ServeSettings& settings, const ListenAddress& listen) {
  DaemonOptions options;
  options.version = version_number();
  choose_sources(settings, options);
  options.ingest.database.path =
      settings.database ? *settings.database : made_default_database_path();
  options.ingest.database.allow_network_file_system =
      settings.allow_network_file_system.value_or(false);
  options.ingest.reads_anew = settings.anew.value_or(false);
  options.ingest.reader_threads = settings.reader_threads.value_or(options.ingest.reader_threads);
  options.ingest.open_files_max = settings.open_files_max.value_or(options.ingest.open_files_max);
  if (settings.metadata_operations_per_s_max) {
    options.ingest.metadata_operations_per_s_max = *settings.metadata_operations_per_s_max;
  }
  for (const RetentionFilters& filters : settings.retention) {
    options.retention.emplace_back(
        [filters](parser::Instant now) { return policy_of(filters, now).value(); });
  }
  options.cors_origins = settings.cors_origins;
  options.http.address = listen.address;
  options.http.port = listen.port;
  options.http.tls_certificate_file = settings.tls_certificate_file.value_or("");
  options.http.tls_key_file = settings.tls_key_file.value_or("");
  options.http.behind_proxy = settings.behind_proxy.value_or(false);
  options.http.allowed_hosts = settings.allowed_hosts;
  options.http.threads = settings.http_threads.value_or(options.http.threads);
  // What ingest may have open at once, and as much again for the database and for Slurm's commands.
  options.http.descriptors_reserved = 2 * static_cast<std::size_t>(options.ingest.open_files_max);
  if (settings.connections_max) {
    options.http.connections_max = static_cast<std::size_t>(*settings.connections_max);
  }
  return options;
}

std::string url_of(const DaemonOptions& options, std::uint16_t port) {
  std::string host = options.http.address;
  if (host == "0.0.0.0" || host == "::") {
    std::array<char, 256> name{};
    host = gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "localhost";
  }
  const char* scheme = options.http.tls_key_file.empty() ? "http" : "https";
  return std::string(scheme) + "://" + to_string(ListenAddress{host, port}) + "/";
}

void announce(const DaemonOptions& options, std::uint16_t port) {
  std::cout << "llmb-report " << options.version << '\n';
  for (const ingest::RootOptions& root : options.ingest.roots) {
    std::cout << "  watching  " << root.path
              << (root.cluster.empty() ? "" : " (cluster " + root.cluster + ")") << '\n';
  }
  if (options.cluster) {
    std::cout << "  jobs      of cluster " << options.cluster->name << ", to "
              << options.cluster->workload_folder << ", which is watched\n";
  }
  if (options.receives) std::cout << "  receiving what agents push\n";
  if (options.reads_only) {
    std::cout << (options.stands_by ? "  standing by, while another process writes\n"
                                    : "  writing nothing\n");
  }
  std::cout << "  database  " << storage::shown_place(options.ingest.database.path) << '\n'
            << "  serving   " << url_of(options, port) << "\nStop with Ctrl-C." << std::endl;
  std::cout.clear();  // who serves need not print
}

// Of each part a few seconds; a mount or a command that does not answer may hold up several.
constexpr std::chrono::seconds kStopPatience{15};

void follow_until_told_to_stop(const DaemonOptions& options) {
  StopSignals signals;
  const auto daemon = daemon_that_may_write(options, signals, announce);
  if (!daemon) return;
  daemon->start();
  announce(options, daemon->port());
  while (signals.wait(std::chrono::hours(1)) == 0) {
  }
  signals.restore();
  spdlog::info("stopping");
  const StopDeadline deadline(kStopPatience, 0);
  daemon->stop();
}

std::string advice_on(const storage::StorageError& error) {
  if (error.kind != storage::StorageError::Kind::not_local) return "";
  return " (--allow-network-file-system overrides this, at your own risk.)";
}

int run_serve(const ServeArguments& arguments) {
  const auto complain = [](const std::string& what, int exit_code) {
    std::cerr << "llmb-report serve: " << what << '\n';
    return exit_code;
  };
  try {
    ServeSettings settings = settings_of(arguments);
    if (!arguments.configuration_file.empty()) {
      settings = first_of(settings, read_serve_configuration(arguments.configuration_file));
    }
    const auto listen = parse_listen_address(settings.listen.value_or(to_string(ListenAddress{})));
    if (!listen) return complain(listen.error().message, kBadArguments);
    DaemonOptions options = daemon_options(settings, *listen);
    if (settings.catalog_file) {
      auto catalog = read_catalog(*settings.catalog_file);
      if (!catalog) return complain(catalog.error().message, kBadArguments);
      options.catalog = std::move(*catalog);
    }
    for (ingest::RootOptions& root : options.ingest.roots) {
      if (root.gpu_type.empty()) root.gpu_type = arguments.gpu_type;
      const auto known = check_gpu_type(options.catalog.get(), root.gpu_type);
      if (!known) return complain(known.error().message, kBadArguments);
    }
    if (options.ingest.roots.empty() && !options.receives && !options.reads_only) {
      return complain(
          "no tree to watch: name a ROOT, set LLMB_WORKLOAD or LLMB_INSTALL, or give 'roots' in a "
          "--config file; "
          "or say --receive, for what agents push, or --read-only, for what another process writes",
          kBadArguments);
    }
    begin_log(arguments.log_level);
    follow_until_told_to_stop(options);
    return 0;
  } catch (const BadConfiguration& error) {
    return complain(error.what(), kBadArguments);
  } catch (const storage::StorageError& error) {
    return complain(error.what() + advice_on(error), kFailed);
  } catch (const std::exception& error) {
    return complain(error.what(), kFailed);
  }
}

}  // namespace

void add_serve_command(CLI::App& app, int& exit_code) {
  const auto arguments = std::make_shared<ServeArguments>();
  CLI::App* const command =
      app.add_subcommand("serve", "Watch trees of logs, and serve what they say over HTTP");
  command->add_option("--config", arguments->configuration_file, "Configuration file, see below")
      ->type_name("FILE");
  command->add_option("--listen", arguments->listen, "Where to listen (default: 127.0.0.1:8642)")
      ->type_name("ADDR:PORT");
  command
      ->add_option("--db", arguments->database,
                   "The database: a file, or postgresql://USER@HOST/NAME (default: "
                   "llmb-report/llmb-report.db in $XDG_STATE_HOME, else in ~/.local/state)")
      ->type_name("FILE|URL");
  add_catalog_option(*command, arguments->catalog_file);
  add_left_open_gpu_option(*command, arguments->gpu_type);
  add_log_level_option(*command, arguments->log_level);
  command->add_option("--tls-cert", arguments->tls_certificate_file, "Certificate chain, PEM")
      ->type_name("FILE");
  command->add_option("--tls-key", arguments->tls_key_file, "Its private key, PEM")
      ->type_name("FILE");
  command->add_flag("--behind-proxy", arguments->behind_proxy,
                    "A proxy in front does TLS: listen anywhere without it");
  command->add_flag("--receive", arguments->receive,
                    "Take the runs that agents on other clusters push (ingest --push), by tokens "
                    "of the scope ingest; no ROOT is needed");
  command->add_flag("--read-only", arguments->read_only,
                    "Write nothing: serve what another llmb-report writes into the database, of "
                    "which --db may name a PostgreSQL standby");
  command->add_flag("--stand-by", arguments->stand_by,
                    "Where another llmb-report writes the database: do as --read-only until it "
                    "ends, and then go on in its place; of PostgreSQL, of each ROOT that another "
                    "one watches");
  command->add_flag("--anew", arguments->anew,
                    "Also read again the settled logs that an earlier version told whose rules "
                    "have changed since; see ingest --help");
  command
      ->add_option("--allow-host", arguments->allowed_hosts,
                   "A name that clients may ask for besides the loopback's (repeatable)")
      ->type_name("NAME");
  command
      ->add_option("--cors-origin", arguments->cors_origins,
                   "An origin whose pages may read the API (https://notebooks.example.org), or * "
                   "for every page (repeatable)")
      ->type_name("ORIGIN");
  command->add_flag("--allow-network-file-system", arguments->allow_network_file_system,
                    "Keep the database on a file system that is not known to be local");
  command->add_option("ROOT", arguments->roots, "Trees to watch")->type_name("DIR");
  command->footer(kServeExamples + std::string("\n") + configuration_help());
  command->callback([arguments, &exit_code] { exit_code = run_serve(*arguments); });
}

}  // namespace llmb::cli
