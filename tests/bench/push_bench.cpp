// How many runs a second a server takes that agents push to it: a real `serve --receive` on
// loopback, and an agent's database of made-up runs (many_runs.h).
//
// First the server alone: all requests are made before the clock starts, as an agent makes them,
// and sent by two clients, as two agents would. Then an agent that sends the same, from its start
// until the server has all. The time a processor worked is that of the programs' whole lives.
//
//   push_bench [RUNS] [STEPS_PER_RUN]      5,000 and 50 where not given
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <thread>
#include <vector>

#include "server/push/push_agent.h"
#include "server/push/push_batches.h"
#include "server/push/push_link.h"
#include "storage/database.h"
#include "tests/bench/central_server.h"
#include "tests/bench/many_runs.h"
#include "tests/temporary_folder.h"

namespace {

using llmb::bench::CentralServer;
using llmb::bench::give_up;
using llmb::bench::processor_s;
using llmb::bench::seconds_since;
using Clock = std::chrono::steady_clock;

constexpr int kClients = 2;

// Prints what the server did, and ends it.
void finish(CentralServer& central, const char* what, double wall_s,
            const llmb::storage::Reader::Totals& told) {
  const double server_s = central.stop();
  const auto totals = central.totals();
  if (totals.runs != told.runs || totals.steps != told.steps) give_up("the server lacks some");
  const auto runs = static_cast<double>(totals.runs);
  std::printf(
      "%s: %.0f runs/s in %.2f s; server's processor %.3f s a 1,000 runs; %.0f bytes a "
      "step\n",
      what, runs / wall_s, wall_s, 1e3 * server_s / runs,
      static_cast<double>(totals.database_bytes) / static_cast<double>(totals.steps));
  std::fflush(stdout);
}

void measure_server(CentralServer& central, const std::string& agent_database) {
  const std::atomic<bool> stop = false;
  const llmb::push::PushOptions options = central.options("eos", agent_database);
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
  std::vector<std::string> troubles(kClients);
  std::vector<std::thread> clients;
  for (std::string& trouble : troubles) {
    clients.emplace_back([&] {
      const llmb::push::PushLink own(options, store.store_id(), stop);
      for (std::size_t at = next++; at < bodies.size() && trouble.empty(); at = next++) {
        trouble = own.send(std::move(bodies[at])).trouble;
      }
    });
  }
  for (std::thread& client : clients) client.join();
  for (const std::string& trouble : troubles) {
    if (!trouble.empty()) give_up(trouble);
  }
  finish(central, "the server alone", seconds_since(began),
         llmb::storage::Reader(agent_database).totals());
}

void measure_agent(CentralServer& central, const std::string& agent_database) {
  const auto told = llmb::storage::Reader(agent_database).totals();
  const double before_s = processor_s(RUSAGE_SELF);
  const double wall_s = llmb::bench::push_all(central.options("eos", agent_database));
  std::printf("an agent's processor %.3f s a 1,000 runs\n",
              1e3 * (processor_s(RUSAGE_SELF) - before_s) / static_cast<double>(told.runs));
  finish(central, "an agent and the server", wall_s, told);
}

}  // namespace

int main(int argc, char** argv) try {
  const int runs = argc > 1 ? std::atoi(argv[1]) : 5'000;
  const std::int64_t steps = argc > 2 ? std::atoll(argv[2]) : 50;
  const llmb::TemporaryFolder folder;
  const std::string agent_database = folder.file("agent.db");
  {
    llmb::storage::Writer writer({agent_database, true});
    llmb::bench::write_many_runs(writer, runs, steps);
  }
  {
    CentralServer central(folder, folder.file("first.db"));
    measure_server(central, agent_database);
  }
  CentralServer central(folder, folder.file("second.db"));
  measure_agent(central, agent_database);
  return 0;
} catch (const std::exception& error) {
  return llmb::bench::report_failure(error);
}
