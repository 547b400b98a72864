// How long the API takes to answer where a database holds many runs: lists in every order, with
// filters, by cursor to the last page and with nothing to find, experiments, compare, scaling and
// one run's resources. Real rows, the real API and HTTP server, one client on loopback.
//
// Before each question the writer commits a change, as it does while jobs run: no answer is a
// cached one, and SQLite reads its pages anew. The processor's time is that of server and client
// together; other programs on the machine do not lengthen it.
//
//   load_bench [RUNS] [STEPS_PER_RUN] [QUESTIONS]      10,000, 54 and 200 where not given
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "parser/layout/experiment_name.h"
#include "parser/statistics/run_summary.h"
#include "parser/statistics/window_choice.h"
#include "server/api/api.h"
#include "server/http/server.h"
#include "storage/database.h"
#include "tests/temporary_folder.h"

namespace {

using llmb::parser::ConfigSource;
using llmb::parser::StepSample;
using llmb::storage::IngestBatch;
using llmb::storage::RunId;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point began) {
  return std::chrono::duration<double>(Clock::now() - began).count();
}

constexpr std::array kExperiments = {
    "pretrain_grok1_314b_fp8_gpus128_tp4_pp1_cp1_vp1_ep8_etp4_mbs1_gbs256",
    "pretrain_grok1_314b_bf16_gpus256_tp4_pp1_cp1_vp1_ep8_etp4_mbs1_gbs512",
    "pretrain_grok1_314b_fp8_gpus512_tp4_pp8_cp2_vp8_ep8_etp1_mbs1_gbs1024",
    "pretrain_nemotron4_15b_bf16_gpus16_tp2_pp1_cp1_vp1_mbs2_gbs64",
    "pretrain_nemotron4_15b_bf16_gpus32_tp2_pp1_cp1_vp1_mbs2_gbs128",
    "pretrain_nemotron4_15b_bf16_gpus64_tp2_pp1_cp1_vp1_mbs2_gbs256",
    "pretrain_nemotron4_340b_fp8_gpus256_tp8_pp8_cp1_vp12_mbs1_gbs64",
    "pretrain_llama31_405b_fp8_cs_gpus128_tp2_pp1_cp1_vp1_mbs1_gbs64",
    "pretrain_llama3_70b_fp8_cs_gpus64_tp1_pp1_cp1_vp1_mbs1_gbs128",
    "pretrain_llama3_8b_fp8_cs_gpus8_tp1_pp1_cp1_vp1_mbs4_gbs128",
    "pretrain_llama4_e128_fp8_gpus512_tp4_pp1_cp1_vp1_ep128_etp4_mbs1_gbs1024",
    "pretrain_qwen3_30b_a3b_bf16_gpus64_tp1_pp1_cp1_vp1_mbs1_gbs512",
};

StepSample make_step(int run, std::int64_t iteration, std::int64_t global_batch_size) {
  StepSample step;
  step.iteration = iteration;
  step.global_step = iteration;
  step.step_time_s = 7.3 + static_cast<double>((run * 31LL + iteration * 17) % 1'000) / 1e4;
  step.step_time_resolution_s = 0.0005;
  step.tflops_per_gpu = 850.5 + run % 100;
  step.loss = 11.2;
  step.learning_rate = 3e-5;
  step.grad_norm = 0.25;
  step.consumed_samples = iteration * global_batch_size;
  step.global_batch_size = global_batch_size;
  step.logged_at = "2025-12-22T15:18:33";
  step.byte_offset = static_cast<std::uint64_t>(iteration) * 310;
  return step;
}

void configure(IngestBatch& batch, int run) {
  auto& configuration = batch.configuration;
  configuration = llmb::parser::parse_experiment_name(batch.path.experiment);
  configuration.set("gpu_type", run % 3 == 0 ? "h100" : "gb200", ConfigSource::llmb_config);
  configuration.set("release", run % 2 == 0 ? "25.05" : "25.08", ConfigSource::llmb_config);
  configuration.set("cluster", "cluster_" + std::to_string(run % 4), ConfigSource::llmb_config);
  for (int i = 0; i < 12; ++i) {
    configuration.set("key_" + std::to_string(i), std::to_string(run % 9),
                      ConfigSource::llmb_config);
  }
}

// Every tenth log ends early, every fiftieth before its first step: runs without a mean, which
// lists put last.
std::int64_t steps_of(int run, std::int64_t step_count) {
  if (run % 50 == 0) return 0;
  return run % 10 == 0 ? step_count / 2 : step_count;
}

std::string instant_of(int run) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "2026-%02d-%02dT%02d:%02d:%02dZ", 1 + run % 12,
                1 + run % 28, run % 24, run % 60, run / 60 % 60);
  return text.data();
}

IngestBatch make_batch(llmb::storage::RootId root, int run, std::int64_t step_count) {
  IngestBatch batch;
  batch.root_id = root;
  batch.path.experiment = kExperiments[static_cast<std::size_t>(run) % kExperiments.size()];
  batch.path.launch_id = std::to_string(1'751'000'000 + run);
  batch.path.job_id = 4'000'000 + run;
  batch.path.launched_at = instant_of(run);
  batch.relative_path = "experiments/" + batch.path.experiment + "/" + batch.path.experiment + "_" +
                        *batch.path.launch_id + "/" + batch.path.experiment + "/log-account_" +
                        std::to_string(*batch.path.job_id) + "_0.out";
  batch.observed_at = instant_of(run * 7);
  configure(batch, run);
  const std::string batch_size = batch.configuration.value("global_batch_size").value_or("0");
  const std::int64_t count = steps_of(run, step_count);
  batch.facts.dialect = llmb::parser::Dialect::nemo;
  batch.facts.declared_last_iteration = step_count - 1;
  if (count > 0) batch.facts.segments.push_back({0, count - 1, count, 0, std::nullopt, 0, 0});
  batch.samples.reserve(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    batch.samples.push_back(make_step(run, i, std::stoll(batch_size)));
  }
  const auto& catalog = llmb::parser::embedded_catalog();
  const auto logged = llmb::parser::logged_global_batch_size(
      batch.samples, llmb::parser::batch_evidence_window(batch.facts));
  const auto match =
      llmb::parser::match_recipe(catalog, {batch.configuration, batch.facts.dialect, logged});
  const auto chosen = llmb::parser::choose_window(catalog, std::nullopt, match, batch.facts);
  batch.summary = llmb::parser::summarize_run(batch.samples, batch.facts, chosen.window, false);
  batch.summary.window_source = chosen.source;
  batch.summary.logged_global_batch_size = logged;
  return batch;
}

void fill(llmb::storage::Writer& writer, int runs, std::int64_t steps_per_run) {
  const auto root = writer.upsert_root("/bench", "");
  const auto runs_a_commit = static_cast<std::size_t>(
      std::max<std::int64_t>(1, 16'384 / std::max<std::int64_t>(1, steps_per_run)));
  std::vector<IngestBatch> batches;
  batches.reserve(runs_a_commit);
  double writing_s = 0;
  std::size_t steps = 0;
  for (int run = 1; run <= runs; ++run) {
    batches.push_back(make_batch(root, run, steps_per_run));
    steps += batches.back().samples.size();
    if (batches.size() < runs_a_commit && run < runs) continue;
    const auto began = Clock::now();
    writer.commit(batches);
    writing_s += seconds_since(began);
    batches.clear();
  }
  std::printf("%d runs and %zu steps written in %.1f s\n", runs, steps, writing_s);
}

[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "load_bench: %s\n", why.c_str());
  std::exit(1);
}

// One keep-alive connection, one request at a time.
class Client {
 public:
  explicit Client(std::uint16_t port) : socket_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
      give_up("cannot connect to the server");
    }
  }
  ~Client() { close(socket_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // The body. Ends the program where the answer is not 200.
  std::string get(const std::string& target) {
    const std::string request = "GET " + target + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
    if (send(socket_, request.data(), request.size(), MSG_NOSIGNAL) < 0) give_up("cannot send");
    std::string text;
    std::size_t head = std::string::npos;
    while ((head = text.find("\r\n\r\n")) == std::string::npos) receive(text);
    if (text.rfind("HTTP/1.1 200", 0) != 0) give_up(target + ": " + text);
    const std::size_t at = text.find("Content-Length: ");
    if (at == std::string::npos) give_up(target + ": no length");
    const std::size_t length = std::strtoull(text.c_str() + at + 16, nullptr, 10);
    while (text.size() < head + 4 + length) receive(text);
    return text.substr(head + 4);
  }

 private:
  void receive(std::string& text) {
    const ssize_t count = recv(socket_, buffer_.data(), buffer_.size(), 0);
    if (count <= 0) give_up("the connection ended");
    text.append(buffer_.data(), static_cast<std::size_t>(count));
  }
  int socket_;
  std::array<char, 1 << 16> buffer_{};
};

double percentile(std::vector<double> values, double fraction) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(fraction * static_cast<double>(values.size() - 1))];
}

class Bench {
 public:
  Bench(std::uint16_t port, llmb::storage::Writer& writer, llmb::parser::RunConfiguration touched)
      : client_(port), writer_(writer), touched_(std::move(touched)) {}

  // Asks target(i, the answer before) so many times.
  void measure(const std::string& what, int count,
               const std::function<std::string(int, const std::string&)>& target) {
    std::vector<double> wall_ms;
    std::vector<double> processor_ms;
    std::string body;
    for (int i = 0; i < count; ++i) {
      const std::string question = "/api/v1/" + target(i, body);
      writer_.update_configuration(1, touched_);
      const std::clock_t processor_began = std::clock();
      const auto began = Clock::now();
      body = client_.get(question);
      wall_ms.push_back(1e3 * seconds_since(began));
      processor_ms.push_back(1e3 * static_cast<double>(std::clock() - processor_began) /
                             CLOCKS_PER_SEC);
    }
    std::printf("%-52s n %4d  p50 %7.2f  p99 %7.2f  (processor %7.2f %7.2f)  %7zu bytes\n",
                what.c_str(), count, percentile(wall_ms, 0.5), percentile(wall_ms, 0.99),
                percentile(processor_ms, 0.5), percentile(processor_ms, 0.99), body.size());
    std::fflush(stdout);
  }

  // Every page by its cursor, from the first one on to the last, and again.
  void walk(const std::string& resource, const std::string& query, int count) {
    const std::string first = resource + "?limit=50&" + query;
    measure(resource + " by cursor, " + query, count, [&](int, const std::string& before) {
      constexpr std::string_view kKey = "\"next_cursor\":\"";
      const std::size_t at = before.find(kKey);
      if (at == std::string::npos) return std::string(first);
      const std::size_t from = at + kKey.size();
      return first + "&cursor=" + before.substr(from, before.find('"', from) - from);
    });
  }

  void same(const std::string& question, int count) {
    measure(question, count, [&](int, const std::string&) { return question; });
  }

 private:
  Client client_;
  llmb::storage::Writer& writer_;
  const llmb::parser::RunConfiguration touched_;
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
                               "last_iteration"};

void measure_lists(Bench& bench, int runs, int count) {
  for (const char* sort : kSorts) {
    bench.walk("runs", std::string("sort=") + sort, std::max(count, runs / 50));
    bench.walk("runs", std::string("sort=-") + sort, std::max(count, runs / 50));
  }
  const std::string job = std::to_string(4'000'000 + runs / 2);
  const std::vector<std::string> filters = {"workload=pretrain_grok1",
                                            "model_size=405b&dtype=fp8_cs",
                                            "gpu_type=h100&gpu_count=128",
                                            "status=complete&release=25.08",
                                            "status=failed",
                                            "status=running",
                                            "cluster=cluster_3",
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
  bench.walk("runs", "workload=pretrain_nemotron4&sort=-tflops_per_gpu_mean", count);
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

void measure_results(Bench& bench, int runs, int count) {
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
                            "workload=none_such", "dtype=bf16", ""}) {
    bench.same(std::string("scaling?") + query, few);
  }
  for (const char* resource : {"", "/statistics", "/statistics?window=5-40", "/metrics", "/steps",
                               "/insight", "/agreement"}) {
    of_one(resource);
  }
}

void serve_and_measure(llmb::storage::Writer& writer, const std::string& path, int runs,
                       int count) {
  llmb::http::EventChannel events;
  llmb::api::ApiOptions options;
  options.database_path = path;
  options.ingest_status = [] { return llmb::ingest::IngestStatus(); };
  options.server_counters = [] { return llmb::http::ServerCounters(); };
  options.events = &events;
  options.version = "bench";
  llmb::api::Api api(options);
  llmb::http::Router router;
  api.add_routes(router);
  llmb::http::ServerOptions server_options;
  server_options.port = 0;
  server_options.threads = 1;
  llmb::http::Server server(server_options, router);
  server.start();
  Bench bench(server.port(), writer, llmb::storage::Reader(path).run(1)->configuration);
  measure_lists(bench, runs, count);
  measure_results(bench, runs, count);
  server.stop();
}

}  // namespace

int main(int argc, char** argv) {
  const int runs = argc > 1 ? std::atoi(argv[1]) : 10'000;
  const std::int64_t steps_per_run = argc > 2 ? std::atoll(argv[2]) : 54;
  const int count = argc > 3 ? std::atoi(argv[3]) : 200;
  const llmb::TemporaryFolder folder;
  const std::string path = folder.file("llmb.db");
  {
    llmb::storage::Writer writer({path, true});
    fill(writer, runs, steps_per_run);
    std::printf("the file is %.1f MB; times in ms\n",
                static_cast<double>(std::filesystem::file_size(path)) / 1e6);
    serve_and_measure(writer, path, runs, count);
  }
  return 0;
}
