// What clients hold that ask for all steps of a long run and do not read: the process's memory, and
// how long a quick request takes meanwhile; before that, how long one answer takes that is read.
// Real rows with noise in them, the real API and HTTP server, clients on loopback.
//
//   deaf_bench [STEPS] [CLIENTS]      990,000 and 20 where not given
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "storage/database.h"
#include "tests/bench/api_server.h"
#include "tests/bench/http_client.h"
#include "tests/temporary_folder.h"

namespace {

using namespace llmb;
using bench::milliseconds_since;
using Clock = std::chrono::steady_clock;

double rounded(double value, double units_of_one) {
  return std::round(value * units_of_one) / units_of_one;
}

// As many digits as a log prints, which is what makes an answer larger or smaller.
void write_long_run(const std::string& path, std::int64_t steps) {
  storage::Writer writer({path, true});
  storage::IngestBatch batch;
  batch.root_id = writer.upsert_root("/bench", "");
  batch.relative_path = "experiments/long/log.out";
  batch.observed_at = "2026-01-01T00:00:00Z";
  batch.facts.dialect = parser::Dialect::megatron_lm;
  batch.facts.segments.push_back({0, steps - 1, steps, 0, std::nullopt, 0});
  std::mt19937_64 random(7);
  std::normal_distribution<double> noise(0, 1);
  for (std::int64_t i = 0; i < steps; ++i) {
    parser::StepSample step;
    step.iteration = i;
    step.step_time_s = rounded(7.38 + 0.05 * noise(random), 1e3);
    step.tflops_per_gpu = rounded(640 + 5 * noise(random), 10);
    step.loss = rounded(2.5 + 0.03 * noise(random), 1e6);
    step.grad_norm = rounded(0.4 + 0.03 * noise(random), 1e3);
    step.learning_rate = 3e-4 - 1e-10 * static_cast<double>(i);
    step.consumed_samples = i * 2048;
    step.byte_offset = static_cast<std::uint64_t>(i) * 310;
    batch.samples.push_back(step);
  }
  writer.commit({&batch, 1});
}

// Of /proc/self/status, in MiB: VmRSS, VmHWM.
double memory_mib(const std::string& key) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(key)) return std::strtod(line.c_str() + key.size() + 1, nullptr) / 1024;
  }
  return 0;
}

void forget_peak() {
  std::ofstream("/proc/self/clear_refs") << "5";
}

class DeafBench {
 public:
  explicit DeafBench(const std::string& database) : server_(database) {}

  void read_one(const std::string& target, const std::string& headers) {
    forget_peak();
    const double before = memory_mib("VmRSS:");
    bench::Client client(server_.port());
    const auto began = Clock::now();
    client.send_text("GET " + target + " HTTP/1.1\r\nHost: localhost\r\n" + headers + "\r\n");
    const std::size_t bytes = client.read_and_forget();
    std::printf("%-40s %-22s %9zu bytes  %7.0f ms  peak %+6.0f MiB\n", target.c_str(),
                headers.substr(0, headers.find('\r')).c_str(), bytes, milliseconds_since(began),
                memory_mib("VmHWM:") - before);
    std::fflush(stdout);
  }

  // Each asks for a window of its own where `are_alike` is false, so that no two answers are one.
  void leave_unread(std::int64_t steps, int clients, bool are_alike) {
    forget_peak();
    const auto before = server_.counters();
    const double memory_before = memory_mib("VmRSS:");
    std::vector<std::unique_ptr<bench::Client>> deaf;
    for (int i = 0; i < clients; ++i) {
      const std::int64_t last = are_alike ? steps : steps - i;
      deaf.push_back(std::make_unique<bench::Client>(server_.port()));
      deaf.back()->send_request("/api/v1/runs/1/steps?window=0-" + std::to_string(last));
    }
    std::vector<double> quick_ms;
    bench::Client quick(server_.port());
    const auto began = Clock::now();
    do {
      const auto asked = Clock::now();
      quick.get("/healthz");
      quick_ms.push_back(milliseconds_since(asked));
    } while (server_.counters().requests_computing > 0);
    const double made_ms = milliseconds_since(began);
    const auto after = server_.counters();
    std::printf(
        "%d clients that do not read, %s: made in %.0f ms, %ld refused; held %+.0f MiB (counted "
        "%.0f), peak %+.0f MiB; /healthz n %zu p50 %.2f ms, p99 %.2f ms, longest %.1f ms\n",
        clients, are_alike ? "one answer" : "each its own answer", made_ms,
        static_cast<long>(after.requests_refused_busy - before.requests_refused_busy),
        memory_mib("VmRSS:") - memory_before,
        static_cast<double>(after.large_bodies_bytes) / (1 << 20),
        memory_mib("VmHWM:") - memory_before, quick_ms.size(), bench::percentile(quick_ms, 0.5),
        bench::percentile(quick_ms, 0.99), bench::percentile(quick_ms, 1));
    std::fflush(stdout);
  }

 private:
  bench::ApiServer server_;
};

}  // namespace

int main(int argc, char** argv) {
  const std::int64_t steps = argc > 1 ? std::atoll(argv[1]) : 990'000;
  const int clients = argc > 2 ? std::atoi(argv[2]) : 20;
  const TemporaryFolder folder;
  const std::string path = folder.file("llmb.db");
  const pid_t child = fork();  // what writing took is not the server's memory
  if (child == 0) {
    write_long_run(path, steps);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (status != 0) bench::give_up("the run could not be written");
  DeafBench bench(path);
  for (const char* encoding : {"identity", "gzip", "zstd"}) {
    bench.read_one("/api/v1/runs/1/steps", "Accept-Encoding: " + std::string(encoding) + "\r\n");
  }
  for (const char* form : {"csv", "ndjson"}) {
    bench.read_one("/api/v1/runs/1/steps." + std::string(form) + "?window=0-199999", "");
  }
  bench.leave_unread(steps, clients, false);
  bench.leave_unread(steps, clients, true);
  return 0;
}
