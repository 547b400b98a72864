#include "tests/server/ingest/ingest_fixture.h"

#include <sys/stat.h>

#include <fstream>
#include <thread>

#include "server/ingest/watched_root.h"
#include "server/sample/log_lines.h"
#include "tests/patience.h"

namespace llmb::ingest {
namespace fs = std::filesystem;

bool eventually(const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + kTestPatience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

std::string nemo_lines(int first, int count, int last, double step_time_s) {
  std::string text;
  for (int i = first; i < first + count; ++i) {
    sample::StepFigures step;
    step.index = i;
    step.step_count = last + 1;
    step.step_time_s = step_time_s + 0.001 * i;
    step.tflops_per_gpu = 800;
    step.loss = 10 - 0.01 * i;
    step.global_batch_size = 128;
    text += sample::nemo_line(step);
  }
  return text;
}

TreeTest::TreeTest() {
  fs::create_directory(tree_);
}

std::string TreeTest::tree_path(const std::string& relative) const {
  return relative.empty() ? tree_ : tree_ + '/' + relative;
}

void TreeTest::write(const std::string& relative, const std::string& content) {
  fs::create_directories(fs::path(tree_path(relative)).parent_path());
  std::ofstream(tree_path(relative), std::ios::binary | std::ios::trunc) << content;
}

void TreeTest::append(const std::string& relative, const std::string& content) {
  fs::create_directories(fs::path(tree_path(relative)).parent_path());
  std::ofstream(tree_path(relative), std::ios::binary | std::ios::app) << content;
}

void TreeTest::set_age(const std::string& relative, std::chrono::seconds age) {
  fs::last_write_time(tree_path(relative), fs::file_time_type::clock::now() - age);
}

IngestOptions TreeTest::options() const {
  IngestOptions options;
  options.roots = {{tree_, {}}};
  options.database.path = database_;
  options.database.allow_network_file_system = true;
  options.scan_interval = std::chrono::milliseconds(50);
  options.hot_interval = std::chrono::milliseconds(50);
  return options;
}

IngestStatus TreeTest::ingest_once() {
  return ingest_once(options());
}

IngestStatus TreeTest::ingest_once(IngestOptions options) {
  Ingest ingest(std::move(options), {});
  ingest.run_once({});
  return ingest.status();
}

std::optional<storage::RunRecord> TreeTest::run_of(const std::string& relative) {
  storage::Reader reader(database_);
  for (const storage::RootRecord& root : reader.roots()) {
    if (auto run = reader.run_at(root.id, relative)) return run;
  }
  return std::nullopt;
}

std::vector<parser::StepSample> TreeTest::steps_of(const std::string& relative) {
  const auto run = run_of(relative);
  return run ? storage::Reader(database_).steps(run->id) : std::vector<parser::StepSample>();
}

}  // namespace llmb::ingest
