// How many runs a second a server takes that agents push to it: a real `serve --receive` on
// loopback, and an agent's database of made-up runs (many_runs.h).
//
// First the server alone: all requests are made before the clock starts, as an agent makes them,
// and sent by two clients, as two agents would. Then an agent that sends the same, from its start
// until the server has all. The time a processor worked is that of the programs' whole lives.
//
//   push_bench [RUNS] [STEPS_PER_RUN]      5,000 and 50 where not given
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "server/http/bearer_token.h"
#include "server/push/push_agent.h"
#include "server/push/push_batches.h"
#include "server/push/push_link.h"
#include "storage/database.h"
#include "storage/job_store.h"
#include "tests/bench/many_runs.h"
#include "tests/server/serve/daemon_process.h"
#include "tests/temporary_folder.h"

namespace {

using llmb::cli::DaemonProcess;
using Clock = std::chrono::steady_clock;

constexpr int kClients = 2;

[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "%s\n", why.c_str());
  std::exit(1);
}

double seconds_since(Clock::time_point began) {
  return std::chrono::duration<double>(Clock::now() - began).count();
}

// Of this program, or of those that it started and that have ended.
double processor_s(int who) {
  rusage usage{};
  getrusage(who, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// A central server with a fresh database, and the token by which the cluster `eos` pushes to it.
class Central {
 public:
  explicit Central(const llmb::TemporaryFolder& folder, const std::string& name)
      : database_(folder.file(name + ".db")), token_file_(folder.file(name + ".token")) {
    const std::string token = llmb::http::new_token();
    llmb::storage::TokenRecord record;
    record.name = "eos-agent";
    record.sha256 = llmb::http::token_sha256(token);
    record.scopes = {"ingest"};
    record.cluster = "eos";
    record.created_at = "2025-01-01T00:00:00Z";
    record.expires_at = "2999-01-01T00:00:00Z";
    llmb::storage::JobStore({database_, true}).insert_token(record);
    std::ofstream(token_file_) << token << '\n';
    server_ = std::make_unique<DaemonProcess>(
        folder.path(), std::vector<std::string>{"--receive", "--db", database_, "--listen",
                                                "127.0.0.1:0", "--allow-network-file-system"});
    port_ = server_->port();
    if (port_ == 0) give_up(server_->errors());
  }

  llmb::push::PushOptions options(const std::string& agent_database) const {
    llmb::push::PushOptions options;
    options.server = *llmb::http::parse_url("http://127.0.0.1:" + std::to_string(port_));
    options.token_file = token_file_;
    options.cluster = "eos";
    options.machine = "bench";
    options.version = "0";
    options.database_path = agent_database;
    return options;
  }

  // Prints what the server did, and ends it.
  void finish(const char* what, double wall_s, const llmb::storage::Reader::Totals& told) {
    const double before_s = processor_s(RUSAGE_CHILDREN);
    server_->stop(SIGTERM);
    const double server_s = processor_s(RUSAGE_CHILDREN) - before_s;
    const auto totals = llmb::storage::Reader(database_).totals();
    if (totals.runs != told.runs || totals.steps != told.steps) give_up("the server lacks some");
    const auto runs = static_cast<double>(totals.runs);
    std::printf(
        "%s: %.0f runs/s in %.2f s; server's processor %.3f s a 1,000 runs; %.0f bytes a "
        "step\n",
        what, runs / wall_s, wall_s, 1e3 * server_s / runs,
        static_cast<double>(totals.database_bytes) / static_cast<double>(totals.steps));
    std::fflush(stdout);
  }

 private:
  std::string database_;
  std::string token_file_;
  int port_ = 0;
  std::unique_ptr<DaemonProcess> server_;
};

void measure_server(Central& central, const std::string& agent_database) {
  const std::atomic<bool> stop = false;
  const llmb::push::PushOptions options = central.options(agent_database);
  llmb::storage::PushStore store(agent_database);
  llmb::push::PushBatches batches(store);
  const llmb::push::PushLink link(options, store.store_id(), stop);
  std::vector<std::string> bodies;
  std::size_t bytes = 0;
  const auto began_making = Clock::now();
  for (llmb::storage::RunId last = 0;;) {
    const auto batch = batches.next([](auto) { return false; });
    if (batch.logs.empty() || batch.logs.front().run <= last) break;  // nothing is acknowledged
    last = batch.logs.back().run;
    bodies.push_back(link.body(batch.packed));
    bytes += bodies.back().size();
  }
  std::printf("%zu requests of %zu bytes in all made in %.2f s\n", bodies.size(), bytes,
              seconds_since(began_making));
  const auto began = Clock::now();
  std::atomic<std::size_t> next = 0;
  std::vector<std::thread> clients;
  for (int i = 0; i < kClients; ++i) {
    clients.emplace_back([&] {
      const llmb::push::PushLink own(options, store.store_id(), stop);
      for (std::size_t at = next++; at < bodies.size(); at = next++) {
        const auto answer = own.send(std::move(bodies[at]));
        if (!answer.trouble.empty()) give_up(answer.trouble);
      }
    });
  }
  for (std::thread& client : clients) client.join();
  central.finish("the server alone", seconds_since(began),
                 llmb::storage::Reader(agent_database).totals());
}

void measure_agent(Central& central, const std::string& agent_database) {
  const auto told = llmb::storage::Reader(agent_database).totals();
  const double before_s = processor_s(RUSAGE_SELF);
  const auto began = Clock::now();
  llmb::push::PushAgent agent(central.options(agent_database));
  agent.start();
  while (!agent.status().is_level) {
    if (const auto status = agent.status(); !status.trouble.empty()) give_up(status.trouble);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  const double wall_s = seconds_since(began);
  agent.stop();
  std::printf("an agent's processor %.3f s a 1,000 runs\n",
              1e3 * (processor_s(RUSAGE_SELF) - before_s) / static_cast<double>(told.runs));
  central.finish("an agent and the server", wall_s, told);
}

}  // namespace

int main(int argc, char** argv) {
  const int runs = argc > 1 ? std::atoi(argv[1]) : 5'000;
  const std::int64_t steps = argc > 2 ? std::atoll(argv[2]) : 50;
  const llmb::TemporaryFolder folder;
  const std::string agent_database = folder.file("agent.db");
  {
    llmb::storage::Writer writer({agent_database, true});
    llmb::bench::write_many_runs(writer, runs, steps);
  }
  {
    Central central(folder, "first");
    measure_server(central, agent_database);
  }
  Central central(folder, "second");
  measure_agent(central, agent_database);
  return 0;
}
