// Step rows for the comparison with `sqlite3 .import`; insert_bench.sh runs and times it.
//
//   insert_bench prepare ROWS DB   a fresh database with the runs, and no step
//   insert_bench insert ROWS DB    the steps, through Writer::commit
//   insert_bench csv ROWS          the same steps as CSV, columns as in step_sample
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "storage/database.h"

namespace {

using llmb::parser::StepSample;
using llmb::storage::IngestBatch;

constexpr std::int64_t kStepsPerRun = 2'000;
constexpr std::int64_t kRunsPerCommit = 8;

// Every column filled, because .import cannot write a NULL into a STRICT table.
StepSample make_step(std::int64_t run, std::int64_t iteration) {
  const double wave = static_cast<double>((run * 31 + iteration * 17) % 1'000) / 1'000;
  StepSample step;
  step.iteration = iteration;
  step.epoch = 0;
  step.global_step = iteration;
  step.step_time_s = 7.3 + wave / 10;
  step.step_time_resolution_s = 0.0005;
  step.tflops_per_gpu = 1'650.5 - wave * 20;
  step.loss = 11.2 - wave;
  step.learning_rate = 3e-5 * wave + 1e-7;
  step.grad_norm = 0.25 + wave;
  step.params_norm = 1'234.5 + wave;
  step.loss_scale = 1.5;
  step.consumed_samples = iteration * 2'048;
  step.global_batch_size = 2'048;
  step.skipped_iterations = 0;
  step.nan_iterations = 0;
  step.memory_bytes_max = 1.5e11 + wave;
  step.memory_bytes_allocated = 1.25e11 + wave;
  step.logged_at = "2025-12-22T15:18:33";
  step.byte_offset = static_cast<std::uint64_t>(iteration) * 310;
  return step;
}

IngestBatch make_batch(std::int64_t run, std::int64_t step_count) {
  IngestBatch batch;
  batch.root_id = 1;
  batch.relative_path = "run_" + std::to_string(run) + ".out";
  batch.observed_at = "2026-01-01T00:00:00Z";
  batch.path.experiment = "bench";
  batch.summary.status_reason = "a benchmark";
  batch.samples.reserve(static_cast<std::size_t>(step_count));
  for (std::int64_t i = 0; i < step_count; ++i) batch.samples.push_back(make_step(run, i));
  return batch;
}

// Both commands below commit the runs in the same order, so run ids are 1, 2, 3 …
void commit_runs(const std::string& path, std::int64_t rows, bool with_steps) {
  llmb::storage::Writer writer({path, false});
  writer.upsert_root("/bench", "");
  const std::int64_t runs = (rows + kStepsPerRun - 1) / kStepsPerRun;
  std::vector<IngestBatch> batches;
  for (std::int64_t run = 0; run < runs; ++run) {
    const std::int64_t steps = std::min(kStepsPerRun, rows - run * kStepsPerRun);
    batches.push_back(make_batch(run, with_steps ? steps : 0));
    if (static_cast<std::int64_t>(batches.size()) < kRunsPerCommit && run + 1 < runs) continue;
    writer.commit(batches);
    batches.clear();
  }
}

std::string exact(double value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

void print_csv(std::int64_t rows) {
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t run = row / kStepsPerRun;
    const StepSample step = make_step(run, row % kStepsPerRun);
    std::string line = std::to_string(run + 1) + ",0," + std::to_string(step.iteration) + ",1,";
    line += std::to_string(*step.epoch) + ',' + std::to_string(*step.global_step);
    for (const double value :
         {*step.step_time_s, step.step_time_resolution_s, *step.tflops_per_gpu, *step.loss,
          *step.learning_rate, *step.grad_norm, *step.params_norm, *step.loss_scale}) {
      line += ',' + exact(value);
    }
    for (const std::int64_t value : {*step.consumed_samples, *step.global_batch_size,
                                     *step.skipped_iterations, *step.nan_iterations}) {
      line += ',' + std::to_string(value);
    }
    line += ',' + exact(*step.memory_bytes_max) + ',' + exact(*step.memory_bytes_allocated);
    line += ',' + step.logged_at + ',' + std::to_string(step.byte_offset) + ",0";
    std::puts(line.c_str());
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string command = argc > 1 ? argv[1] : "";
  const std::int64_t rows = argc > 2 ? std::atoll(argv[2]) : 0;
  if (command == "csv" && argc == 3) {
    print_csv(rows);
  } else if ((command == "prepare" || command == "insert") && argc == 4) {
    commit_runs(argv[3], rows, command == "insert");
  } else {
    std::fputs("usage: insert_bench prepare|insert ROWS DB, or insert_bench csv ROWS\n", stderr);
    return 2;
  }
  return 0;
}
