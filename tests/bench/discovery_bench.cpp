// Walks a tree as ingest's first scan does: lists every directory, examines every log. Measured by
// discovery_bench.sh beside `find -printf`; prints seconds and counts.
//
//   discovery_bench make recipes|logs FOLDER FILES   makes a tree
//   discovery_bench walk FOLDER                      walks it
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "server/ingest/tree_walk.h"

namespace {

namespace fs = std::filesystem;

void touch(const fs::path& path) {
  std::ofstream(path) << "x";
}

// What a launch of the recipes leaves behind: two logs among some twenty files.
void make_launch(const fs::path& folder, int number, int& left) {
  const std::string name = "pretrain_llama31_405b_fp8_gpus512_tp4_pp8_cp2_vp8_mbs1_gbs1024";
  const fs::path launch = folder / name / (name + '_' + std::to_string(1'751'000'000 + number));
  const fs::path job = launch / name;
  fs::create_directories(job / "code");
  fs::create_directories(job / "configs");
  const std::string id = std::to_string(100'000 + number);
  touch(launch / "_CONFIG");
  touch(launch / "_VERSION");
  touch(launch / "_TASKS");
  touch(launch / (name + "_sbatch.sh"));
  touch(job / ("log-acct." + name + '_' + id + "_0.out"));
  touch(job / ("log-acct." + name + '_' + id + "_1.out"));
  touch(job / ("sbatch_acct." + name + '_' + id + ".out"));
  touch(job / ("llmb-config_" + id + ".yaml"));
  for (int i = 0; i < 8; ++i) touch(job / "code" / ("module" + std::to_string(i) + ".py"));
  for (int i = 0; i < 4; ++i) touch(job / "configs" / ("part" + std::to_string(i) + ".yaml"));
  left -= 20;
}

void make_tree(const std::string& shape, const fs::path& folder, int files) {
  if (shape == "recipes") {
    for (int number = 0; files > 0; ++number) make_launch(folder / "experiments", number, files);
    return;
  }
  for (int i = 0; i < files; ++i) {
    const fs::path directory = folder / ("launch" + std::to_string(i / 100));
    if (i % 100 == 0) fs::create_directories(directory);
    touch(directory / ("log-" + std::to_string(i) + ".out"));
  }
}

int walk_tree(const std::string& folder) {
  const auto begin = std::chrono::steady_clock::now();
  auto root = llmb::ingest::RootDirectory::open(folder);
  if (!root) {
    std::fprintf(stderr, "%s\n", root.error().message.c_str());
    return 1;
  }
  llmb::ingest::TreeWalk walk(
      std::make_shared<const llmb::ingest::RootDirectory>(std::move(*root)));
  walk.add_directory("");
  long long candidates = 0;
  unsigned long long bytes = 0;
  while (!walk.is_done()) {
    walk.step([&](const llmb::ingest::Candidate& candidate) {
      ++candidates;
      if (const auto facts = llmb::ingest::stat_candidate(candidate)) bytes += facts->size_bytes;
    });
  }
  const double took_s =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  std::printf("%.6f s, %lld entries, %lld candidates, %llu bytes\n", took_s,
              static_cast<long long>(walk.entries_seen()), candidates, bytes);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  if (mode == "make" && argc == 5) {
    make_tree(argv[2], argv[3], std::atoi(argv[4]));
    return 0;
  }
  if (mode == "walk" && argc == 3) return walk_tree(argv[2]);
  std::fprintf(stderr, "discovery_bench make recipes|logs FOLDER FILES | walk FOLDER\n");
  return 2;
}
