// How long the quick requests take on a quiet server, and while it is busy: eight submissions whose
// sbatch does not come back, and four clients that ask for the scaling of all runs again and again.
// Real rows, the real API and HTTP server with its default threads, clients on loopback.
//
//   busy_bench [RUNS] [QUESTIONS]      10,000 and 400 where not given
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "tests/bench/api_server.h"
#include "tests/bench/http_client.h"
#include "tests/bench/many_runs.h"
#include "tests/server/api/stand_in_cluster.h"
#include "tests/temporary_folder.h"

namespace {

using namespace llmb;
using bench::Client;
using bench::milliseconds_since;
using Clock = std::chrono::steady_clock;

void print(const char* state, const std::string& what, const std::vector<double>& times_ms) {
  std::printf("%-6s %-28s n %4zu  p50 %8.2f ms  p99 %8.2f ms\n", state, what.c_str(),
              times_ms.size(), bench::percentile(times_ms, 0.5), bench::percentile(times_ms, 0.99));
  std::fflush(stdout);
}

class BusyBench {
 public:
  BusyBench(storage::Writer& writer, const std::filesystem::path& folder,
            const std::string& database)
      : writer_(writer),
        touched_(storage::Reader(database).run(1)->configuration),
        server_(database, 0, [&](api::ApiOptions& options) {
          cluster_.emplace(folder, storage::OpenOptions{database, true}, *options.events);
          cluster_->connect(options);
          cluster_->hang_sbatch();
        }) {}

  void measure(const char* state, int count) {
    // A change before each question, so that no answer is a cached one.
    for (const char* target : {"/healthz", "/api/v1/runs?limit=50", "/api/v1/experiments",
                               "/api/v1/runs/7", "/api/v1/jobs"}) {
      Client client(server_.port());
      std::vector<double> times_ms;
      for (int i = 0; i < count; ++i) {
        writer_.update_configuration(1, touched_);
        const auto began = Clock::now();
        client.get(target);
        times_ms.push_back(milliseconds_since(began));
      }
      print(state, target, times_ms);
    }
    measure_events(state, count);
  }

  void make_busy() {
    const std::string authorization = cluster_->authorization("ci", "submit");
    for (int i = 0; i < 8; ++i) {
      busy_.emplace_back([this, authorization] { submit(authorization); });
    }
    for (int i = 0; i < 4; ++i) {
      busy_.emplace_back([this] {
        Client client(server_.port());
        while (!is_over_) {
          client.get("/api/v1/scaling");
          ++scalings_;
        }
      });
    }
    while (!cluster_->sbatch_hangs()) std::this_thread::yield();
  }

  void end() {
    std::printf("%d scalings of all runs were answered meanwhile\n", scalings_.load());
    is_over_ = true;
    cluster_->let_sbatch_go();
    for (std::thread& thread : busy_) thread.join();
    server_.stop();
  }

 private:
  void measure_events(const char* state, int count) {
    Client client(server_.port());
    client.send_request("/api/v1/events");
    client.read_until("\nid: ");
    std::vector<double> times_ms;
    for (int i = 0; i < count; ++i) {
      const std::string mark = "{\"run_id\":" + std::to_string(++last_event_) + "}";
      const auto began = Clock::now();
      server_.events().publish("run", mark);
      client.read_until(mark);
      times_ms.push_back(milliseconds_since(began));
    }
    print(state, "an event to its browser", times_ms);
  }

  void submit(const std::string& authorization) {
    const std::string body =
        R"({"workload": "pretrain_nemotron4", "model_size": "15b", "dtype": "bf16",
            "gpu_type": "h100", "proxy": true, "runner_options": {"steps": 3}, "scale": 8})";
    Client client(server_.port());
    client.send_text(
        "POST /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\nAuthorization: " + authorization +
        "\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
        "\r\n\r\n" + body);
    client.read_until("\r\n\r\n");
  }

  storage::Writer& writer_;
  const parser::RunConfiguration touched_;
  std::optional<api::StandInCluster> cluster_;  // made with the server's events
  bench::ApiServer server_;
  std::vector<std::thread> busy_;
  std::atomic<bool> is_over_ = false;
  std::atomic<int> scalings_ = 0;
  int last_event_ = 1'000'000;
};

}  // namespace

int main(int argc, char** argv) {
  const int runs = argc > 1 ? std::atoi(argv[1]) : 10'000;
  const int count = argc > 2 ? std::atoi(argv[2]) : 400;
  const TemporaryFolder folder;
  const std::string path = folder.file("llmb.db");
  storage::Writer writer({path, true});
  bench::write_many_runs(writer, runs, 54);
  BusyBench bench(writer, folder.path(), path);
  bench.measure("quiet", count);
  bench.make_busy();
  bench.measure("busy", count);
  bench.end();
  return 0;
}
