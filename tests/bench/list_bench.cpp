// How long a page of 50 runs takes, for every sort key, on a database with many runs: wall clock,
// and processor time, which other programs on the machine do not lengthen.
//
//   list_bench [RUNS] [PAGES]   runs in a database in the temporary folder; pages for each key
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include "storage/database.h"
#include "tests/temporary_folder.h"

namespace {

using namespace llmb::storage;  // NOLINT: one program, one module

IngestBatch make_batch(RootId root, int number) {
  IngestBatch batch;
  batch.root_id = root;
  batch.relative_path = "experiments/some/long/path/of/a/run/log_" + std::to_string(number);
  batch.observed_at = "2026-01-01T00:00:" + std::to_string(10 + number % 50) + "Z";
  batch.path.experiment = "pretrain_grok1_314b_" + std::to_string(number % 300);
  batch.summary.status_reason = "34 of 34 iterations of the window, and the last one";
  batch.facts.segments.resize(1);
  for (int i = 0; i < 20; ++i) {
    batch.configuration.set("key_" + std::to_string(i), std::to_string(number % 9),
                            llmb::parser::ConfigSource::experiment_name);
  }
  batch.configuration.set("gpu_count", std::to_string(8 << number % 6),
                          llmb::parser::ConfigSource::experiment_name);
  if (number % 5 != 0) {
    const double mean = 5 + number % 977 / 100.0;
    batch.summary.step_time_s = {34, mean, 0.1, mean / 90, mean, 4, 9, mean + 1};
    batch.summary.tflops_per_gpu = {34, 1'700 - mean, 1, 1, 1, 1, 1, 1};
  }
  return batch;
}

double percentile(std::vector<double> values, double fraction) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(fraction * static_cast<double>(values.size() - 1))];
}

void measure(Reader& reader, const char* what, const RunQuery& first, int pages) {
  std::vector<double> wall_ms;
  std::vector<double> processor_ms;
  RunQuery query = first;
  for (int i = 0; i < pages; ++i) {
    const std::clock_t processor_began = std::clock();
    const auto began = std::chrono::steady_clock::now();
    const RunPage page = reader.runs(query);
    reader.run_count(query.filter);
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - began;
    wall_ms.push_back(took.count());
    processor_ms.push_back(1e3 * static_cast<double>(std::clock() - processor_began) /
                           CLOCKS_PER_SEC);
    query.after = page.next;  // from the end on: from the beginning again
  }
  std::printf("%-36s p50 %6.2f ms  p99 %6.2f ms  (processor: p50 %5.2f  p99 %5.2f)\n", what,
              percentile(wall_ms, 0.5), percentile(wall_ms, 0.99), percentile(processor_ms, 0.5),
              percentile(processor_ms, 0.99));
}

void measure_all(const std::string& path, int pages) {
  Reader reader(path);
  for (int key = 0; key <= static_cast<int>(RunSortKey::step_count); ++key) {
    RunQuery query;
    query.sort = static_cast<RunSortKey>(key);
    measure(reader, std::string(run_sort_key_name(query.sort)).c_str(), query, pages);
  }
  RunQuery query;
  query.filter.text = "log_99";
  measure(reader, "launched_at, few match a text", query, pages);
  query.filter.text = "no run has this";
  measure(reader, "launched_at, none matches a text", query, pages);
  query.filter = {};
  query.filter.experiment = "pretrain_grok1_314b_7";
  query.sort = RunSortKey::step_time_s_mean;
  measure(reader, "step_time_s_mean of one experiment", query, pages);
}

}  // namespace

int main(int argc, char** argv) {
  const int runs = argc > 1 ? std::atoi(argv[1]) : 10'000;
  const int pages = argc > 2 ? std::atoi(argv[2]) : 300;
  const llmb::TemporaryFolder folder;
  const std::string path = folder.file("llmb.db");
  {
    Writer writer({path, false});
    const RootId root = writer.upsert_root("/bench", "");
    std::vector<IngestBatch> batches;
    batches.reserve(static_cast<std::size_t>(runs));
    for (int i = 0; i < runs; ++i) batches.push_back(make_batch(root, i));
    writer.commit(batches);
    std::printf("a page of 50 of %d runs, with its total count:\n", runs);
    measure_all(path, pages);
  }
  return 0;
}
