// A copy that is killed at any instant, and called again.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>
#include <random>

#include "tests/storage/copied_databases.h"

namespace llmb::storage {
namespace {

constexpr int kKills = 24;

class CopyCrash : public BothWays {};
INSTANTIATE_TEST_SUITE_P(Databases, CopyCrash, kEveryWay, name_of_way);

// A server that has much to do notices late that who wrote before was killed.
void begin_copy(std::optional<DatabaseCopy>& copy, const std::string& from, const OpenOptions& to) {
  for (int tries = 0; !copy; ++tries) {
    try {
      copy.emplace(from, to);
    } catch (const StorageError& error) {
      if (error.kind != StorageError::Kind::busy_elsewhere || tries == 400) throw;
      usleep(50'000);
    }
  }
}

// Reports each step of the work with a byte, also the last.
[[noreturn]] void copy_and_report(const std::string& from, const OpenOptions& to, int report) {
  try {
    const auto tell = [&] {
      if (write(report, "c", 1) != 1) _exit(3);
    };
    std::optional<DatabaseCopy> copy;
    begin_copy(copy, from, to);
    tell();
    while (copy->copy_some_runs() > 0) tell();
    copy->copy_rest();
    tell();
    while (const auto table = copy->check_next_table()) {
      if (!table->is_same()) _exit(2);
    }
    copy->finish();
    _exit(0);
  } catch (const std::exception& error) {
    fprintf(stderr, "%s\n", error.what());
  }
  _exit(1);
}

// Kills it after so many steps and a while; negative: lets it end. True: it ended by itself, well.
bool copy_until_killed(const std::string& from, const OpenOptions& to, int steps,
                       unsigned long while_spins) {
  int reports[2];
  EXPECT_EQ(pipe(reports), 0);
  const pid_t child = fork();
  if (child == 0) {
    close(reports[0]);
    copy_and_report(from, to, reports[1]);
  }
  close(reports[1]);
  char byte = 0;
  for (int seen = 0; seen != steps && read(reports[0], &byte, 1) == 1;) ++seen;
  volatile unsigned long spin = while_spins;
  while (steps >= 0 && spin > 0) spin = spin - 1;
  if (steps >= 0) kill(child, SIGKILL);
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  close(reports[0]);
  if (WIFSIGNALED(status)) return false;
  EXPECT_EQ(WEXITSTATUS(status), 0);
  return true;
}

// One copy is killed again and again, until it ends before it is; then another begins.
TEST_P(CopyCrash, GoesOnWhereItWasKilled) {
  std::mt19937 random(11);  // NOLINT: a failure must come again
  Writer writer(from_->options());
  write_runs(writer, 0, kManyRuns);
  int written = kManyRuns;
  int whole = 0;
  for (int kills = 0; kills < kKills;) {
    to_.emplace(GetParam().second);
    const bool ends_by_itself = random() % 4 == 0;
    for (;;) {
      const int steps = static_cast<int>(random() % 6);
      if (copy_until_killed(from_->path(), to_->options(), steps, random() % 3'000'000)) break;
      ++kills;
      if (ends_by_itself || kills >= kKills) {
        ASSERT_TRUE(copy_until_killed(from_->path(), to_->options(), -1, 0));
        break;
      }
      // Meanwhile it grows.
      write_runs(writer, written - 3, written + 2);
      written += 2;
    }
    ASSERT_EQ(Reader(to_->path()).run_count({}), written) << "a killed copy was opened as a whole";
    expect_same_rows(from_->path(), to_->path());
    ++whole;
    if (HasFailure()) return;
  }
  EXPECT_GT(whole, 0);
}

}  // namespace
}  // namespace llmb::storage
