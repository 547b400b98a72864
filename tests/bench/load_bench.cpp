// How long the API takes to answer where a database holds many runs: pages of lists anywhere in
// every order, with filters and with nothing to find, experiments, compare, scaling, the board,
// histories, one run's resources, and what pages and monitors ask besides. Real rows, the real API
// and HTTP server, one client on loopback.
//
// Before each question the writer commits a change, as it does while jobs run: no answer is a
// cached one, and SQLite reads its pages anew. The processor's time is that of server and client
// together; other programs on the machine do not lengthen it.
//
//   load_bench [RUNS] [STEPS_PER_RUN] [QUESTIONS] [DATABASE] [ONLY]
//
// 10,000, 54, 200 and a new file where not given. DATABASE is a file or a PostgreSQL database's
// URL, whose server's work is not in the processor's time. Where it holds runs of an earlier call,
// they are not written again; RUNS is how many, at most, or those of one cluster where fleet_bench
// made it. ONLY: questions with these words alone.
//
//   tests/postgresql/with_server.sh bash -c 'load_bench 10000 54 200 "$LLMB_TEST_POSTGRESQL"'
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/api/cursor.h"
#include "storage/database.h"
#include "tests/bench/api_server.h"
#include "tests/bench/http_client.h"
#include "tests/bench/many_runs.h"
#include "tests/temporary_folder.h"

namespace {

using llmb::bench::Client;
using llmb::bench::kExperiments;
using llmb::bench::milliseconds_since;
using llmb::bench::percentile;
using llmb::bench::write_many_runs;
using llmb::bench::write_run_again;
using Clock = std::chrono::steady_clock;

class Bench {
 public:
  Bench(std::uint16_t port, llmb::storage::Writer& writer, llmb::parser::RunConfiguration touched,
        std::string only)
      : client_(port),
        writer_(writer),
        root_(llmb::bench::root_of_many_runs(writer)),
        touched_(std::move(touched)),
        only_(std::move(only)) {}

  // Asks target(i, the answer before) so many times, each after change(i).
  void measure(const std::string& what, int count,
               const std::function<std::string(int, const std::string&)>& target,
               const std::function<void(int)>& change) {
    if (what.find(only_) == std::string::npos) return;
    std::vector<double> wall_ms;
    std::vector<double> processor_ms;
    std::string body;
    for (int i = 0; i < count; ++i) {
      std::string question = target(i, body);
      if (!question.starts_with('/')) question = "/api/v1/" + question;
      change(i);
      const std::clock_t processor_began = std::clock();
      const auto began = Clock::now();
      body = client_.get(question);
      wall_ms.push_back(milliseconds_since(began));
      processor_ms.push_back(1e3 * static_cast<double>(std::clock() - processor_began) /
                             CLOCKS_PER_SEC);
    }
    std::printf("%-52s n %4d  p50 %7.2f  p99 %7.2f  (processor %7.2f %7.2f)  %7zu bytes\n",
                what.c_str(), count, percentile(wall_ms, 0.5), percentile(wall_ms, 0.99),
                percentile(processor_ms, 0.5), percentile(processor_ms, 0.99), body.size());
    std::fflush(stdout);
  }

  void measure(const std::string& what, int count,
               const std::function<std::string(int, const std::string&)>& target) {
    measure(what, count, target, [&](int) { writer_.update_configuration(1, touched_); });
  }

  // The first page and others from all over the list: a page begins after either of two runs, by a
  // cursor made of the one that a list of these two gives.
  void pages(const std::string& query, int runs, int count) {
    const std::string what = "a page of runs, " + query;
    if (what.find(only_) == std::string::npos) return;
    const std::string first = "runs?limit=50&" + query;
    const auto whole = cursor_in(client_.get("/api/v1/" + first));
    measure(what, count, [&](int i, const std::string&) {
      if (i == 0 || !whole) return first;
      const auto job = [&](long long k) {
        return "&job_id=" + std::to_string(4'000'001 + (i * 7'919LL + k) % runs);
      };
      auto cursor = cursor_in(client_.get("/api/v1/runs?limit=1&" + query + job(0) + job(52'391)));
      if (!cursor) return first;
      cursor->filter_hash = whole->filter_hash;
      return first + "&cursor=" + llmb::api::encode_cursor(*cursor);
    });
  }

  void same(const std::string& question, int count) {
    measure(question, count, [&](int, const std::string&) { return question; });
  }

  // Each time another run has other step times than before.
  void same_of_other_times(const std::string& question, int count, int runs,
                           std::int64_t steps_per_run) {
    measure(
        question + " of other times", count, [&](int, const std::string&) { return question; },
        [&](int i) { write_run_again(writer_, root_, 1 + i * 41 % runs, steps_per_run, 1 + i); });
  }

 private:
  static std::optional<llmb::api::Cursor> cursor_in(const std::string& body) {
    constexpr std::string_view kKey = "\"next_cursor\":\"";
    const std::size_t at = body.find(kKey);
    if (at == std::string::npos) return std::nullopt;
    const std::size_t from = at + kKey.size();
    return llmb::api::decode_cursor(body.substr(from, body.find('"', from) - from));
  }

  Client client_;
  llmb::storage::Writer& writer_;
  const llmb::storage::RootId root_;
  const llmb::parser::RunConfiguration touched_;
  const std::string only_;
};

constexpr std::array kSorts = {"id",
                               "launched_at",
                               "grown_at",
                               "experiment",
                               "status",
                               "gpu_count",
                               "step_time_s_mean",
                               "step_time_s_stddev_sample",
                               "step_count",
                               "step_time_s_median",
                               "step_time_s_p95",
                               "tflops_per_gpu_mean",
                               "tokens_per_s_per_gpu",
                               "mfu",
                               "speed_against_reference",
                               "failure_cause",
                               "last_iteration"};

void measure_lists(Bench& bench, int runs, int count) {
  for (const char* sort : kSorts) {
    bench.pages(std::string("sort=") + sort, runs, count);
    bench.pages(std::string("sort=-") + sort, runs, count);
  }
  const std::string job = std::to_string(4'000'000 + runs / 2);
  const std::vector<std::string> filters = {"workload=pretrain_grok1",
                                            "model_size=405b&dtype=fp8_cs",
                                            "gpu_type=h100&gpu_count=128",
                                            "status=complete&release=25.08",
                                            "status=failed",
                                            "status=running",
                                            "cluster=cluster_3",
                                            "status=failed&status=incomplete&dtype=fp8&dtype=bf16",
                                            "mark=traced",
                                            "mark=none&status=complete",
                                            "failure_cause=cuda_oom&failure_cause=hung",
                                            "speed_against_reference_at_most=0.95",
                                            "workload=none_such",
                                            "model_size=1b&dtype=fp8",
                                            "gpu_type=b300",
                                            "gpu_count=3",
                                            "release=24.01",
                                            "cluster=none",
                                            "root_id=77",
                                            "since=2027-01-01T00:00:00Z",
                                            "since=2026-12-01T00:00:00Z",
                                            "job_id=" + job,
                                            "job_id=3",
                                            "q=" + job,
                                            "q=none_such",
                                            "q=GROK1",
                                            std::string("experiment=") + kExperiments[3],
                                            "experiment=none_such"};
  for (const std::string& filter : filters) {
    bench.same("runs?" + filter, count);
    bench.same("runs?sort=step_time_s_mean&" + filter, count);
  }
  bench.pages("workload=pretrain_nemotron4&sort=-tflops_per_gpu_mean", runs, count);
  for (const char* filter : {"", "workload=pretrain_grok1", "q=none_such", "release=24.01"}) {
    bench.same(std::string("experiments?") + filter, count);
  }
}

std::string eight_runs(int i, int runs) {
  std::string ids;
  for (int k = 0; k < 8; ++k) {
    ids += (k == 0 ? "" : ",") + std::to_string(1 + (i * 8 + k * 997) % runs);
  }
  return ids;
}

void measure_results(Bench& bench, int runs, std::int64_t steps_per_run, int count) {
  const auto of_one = [&](const std::string& resource) {
    bench.measure("runs/{id}" + resource, count, [&](int i, const std::string&) {
      return "runs/" + std::to_string(1 + i * 41 % runs) + resource;
    });
  };
  for (const char* query : {"", "window=20-40&", "window=last&", "include=all&"}) {
    bench.measure(std::string("compare?") + query + "runs= of eight", count,
                  [&](int i, const std::string&) {
                    return std::string("compare?") + query + "runs=" + eight_runs(i, runs);
                  });
  }
  const int few = std::max(5, count / 10);
  for (const char* query : {"workload=pretrain_grok1&gpu_type=gb200", "workload=pretrain_llama3.1",
                            "workload=none_such", "dtype=bf16", "", "runs_max=12"}) {
    bench.same(std::string("scaling?") + query, few);
  }
  for (const char* question :
       {"scaling?runs_max=12&window=20-40", "scaling?runs_max=12&without=evaluation", "history",
        "history?window=20-40"}) {
    bench.same(question, few);
  }
  for (const char* question : {"scaling?runs_max=12", "history"}) {
    bench.same_of_other_times(question, few, runs, steps_per_run);
  }
  for (const char* resource : {"", "/statistics", "/statistics?window=5-40", "/metrics", "/steps",
                               "/insight", "/agreement"}) {
    of_one(resource);
  }
  for (const char* question : {"status", "roots", "recipes", "/metrics", "/healthz"}) {
    bench.same(question, count);
  }
}

void serve_and_measure(llmb::storage::Writer& writer, const std::string& place, int runs,
                       std::int64_t steps_per_run, int count, const std::string& only) {
  llmb::bench::ApiServer server(place, 1);
  Bench bench(server.port(), writer, llmb::storage::Reader(place).run(1)->configuration, only);
  measure_lists(bench, runs, count);
  measure_results(bench, runs, steps_per_run, count);
  server.stop();
}

}  // namespace

int main(int argc, char** argv) {
  const int runs = argc > 1 ? std::atoi(argv[1]) : 10'000;
  const std::int64_t steps_per_run = argc > 2 ? std::atoll(argv[2]) : 54;
  const int count = argc > 3 ? std::atoi(argv[3]) : 200;
  const llmb::TemporaryFolder folder;
  const std::string place = argc > 4 ? argv[4] : folder.file("llmb.db");
  llmb::storage::Writer writer({place, true});
  if (llmb::storage::Reader(place).totals().runs == 0) {
    write_many_runs(writer, runs, steps_per_run);
  }
  const auto totals = llmb::storage::Reader(place).totals();
  if (totals.runs < runs) {
    std::fprintf(stderr, "%s holds %lld runs\n", place.c_str(),
                 static_cast<long long>(totals.runs));
    return 1;
  }
  std::printf("the database takes %.1f MB; times in ms\n",
              static_cast<double>(totals.database_bytes) / 1e6);
  serve_and_measure(writer, place, runs, steps_per_run, count, argc > 5 ? argv[5] : "");
  return 0;
}
