// How fast a database is copied: made-up runs (many_runs.h) in a file, from there into another
// file, and where a URL is given into that PostgreSQL database and from there into a file. Rows of
// all tables a second, comparing included, and the most memory that the process has had.
//
//   copy_bench RUNS STEPS_PER_RUN [URL]
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "storage/database_copy.h"
#include "tests/bench/many_runs.h"
#include "tests/temporary_folder.h"

namespace {

using llmb::storage::DatabaseCopy;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point began) {
  return std::chrono::duration<double>(Clock::now() - began).count();
}

long mebibytes_max() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024;
}

void measure(const char* what, const std::string& from, const std::string& to) {
  const long before = mebibytes_max();
  const auto began = Clock::now();
  DatabaseCopy copy(from, {to, true});
  while (copy.copy_some_runs() > 0) {
  }
  copy.copy_rest();
  const double copying_s = seconds_since(began);
  std::int64_t rows = 0;
  while (const auto table = copy.check_next_table()) {
    if (!table->is_same()) {
      std::fprintf(stderr, "%s is not the same\n", table->name.c_str());
      std::exit(1);
    }
    rows += table->from.rows;
  }
  copy.finish();
  const double all_s = seconds_since(began);
  std::printf(
      "%s: %lld rows in %.1f s, of which comparing %.1f s: %.0f rows/s; peak %ld MiB"
      " (before %ld)\n",
      what, static_cast<long long>(rows), all_s, all_s - copying_s,
      static_cast<double>(rows) / all_s, mebibytes_max(), before);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: copy_bench RUNS STEPS_PER_RUN [URL]\n");
    return 2;
  }
  const llmb::TemporaryFolder folder;
  const std::string file = folder.file("runs.db");
  {
    llmb::storage::Writer writer({file, true});
    llmb::bench::write_many_runs(writer, std::atoi(argv[1]), std::atoll(argv[2]));
  }
  measure("file to file", file, folder.file("copy.db"));
  if (argc < 4) return 0;
  measure("file to PostgreSQL", file, argv[3]);
  measure("PostgreSQL to file", argv[3], folder.file("back.db"));
}
