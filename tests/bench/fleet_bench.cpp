// How fast a central server takes runs as its database grows: agents of many clusters, one after
// the other, push the same made-up runs (many_runs.h) to one real `serve --receive` on loopback.
//
//   fleet_bench [CLUSTERS] [RUNS_OF_EACH] [STEPS_PER_RUN] [DATABASE]
//
// 4, 5,000, 50 and a new file where not given. DATABASE is a file or a PostgreSQL database's URL,
// which is kept: load_bench then measures what the API takes over it.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <string>

#include "storage/database.h"
#include "storage/open_database.h"
#include "tests/bench/central_server.h"
#include "tests/bench/many_runs.h"
#include "tests/temporary_folder.h"

namespace {

using llmb::bench::CentralServer;
using llmb::bench::give_up;
using llmb::bench::push_all;

// A copy with an identity of its own: a database stands for one agent.
std::string agent_of(const std::string& made_up, const std::string& copy) {
  std::filesystem::copy_file(made_up, copy);
  const auto database = llmb::storage::open_writer({copy, true});
  database->connection().execute("UPDATE store SET store_id = lower(hex(randomblob(16)))");
  return copy;
}

}  // namespace

int main(int argc, char** argv) try {
  const int clusters = argc > 1 ? std::atoi(argv[1]) : 4;
  const int runs = argc > 2 ? std::atoi(argv[2]) : 5'000;
  const std::int64_t steps = argc > 3 ? std::atoll(argv[3]) : 50;
  const llmb::TemporaryFolder folder;
  const std::string made_up = folder.file("made_up.db");
  {
    llmb::storage::Writer writer({made_up, true});
    llmb::bench::write_many_runs(writer, runs, steps);
  }
  const std::string database = argc > 4 ? argv[4] : folder.file("central.db");
  llmb::storage::Writer({database, true});  // the tokens stand in it before it is served
  CentralServer central(folder, database);
  double wall_s = 0;
  for (int i = 0; i < clusters; ++i) {
    const std::string cluster = "cluster_" + std::to_string(i);
    const double took_s =
        push_all(central.options(cluster, agent_of(made_up, folder.file(cluster + ".db"))));
    std::filesystem::remove(folder.file(cluster + ".db"));
    wall_s += took_s;
    std::printf("cluster %d: %.0f runs/s\n", i + 1, runs / took_s);
    std::fflush(stdout);
  }
  const double server_s = central.stop();
  const auto totals = central.totals();
  if (totals.runs != std::int64_t{clusters} * runs) give_up("the server lacks some");
  std::printf(
      "%lld runs and %lld steps: %.0f runs/s in %.0f s; "
      "server's processor %.3f s a 1,000 runs; %.0f bytes a step\n",
      static_cast<long long>(totals.runs), static_cast<long long>(totals.steps),
      static_cast<double>(totals.runs) / wall_s, wall_s,
      1e3 * server_s / static_cast<double>(totals.runs),
      static_cast<double>(totals.database_bytes) / static_cast<double>(totals.steps));
  return 0;
} catch (const std::exception& error) {
  return llmb::bench::report_failure(error);
}
