#include "server/report/read_ahead.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <limits>
#include <random>
#include <string>
#include <system_error>
#include <thread>

#include "tests/temporary_folder.h"

namespace llmb::report {
namespace {

constexpr std::uint64_t kAll = std::numeric_limits<std::uint64_t>::max();

std::string random_bytes(std::size_t count) {
  std::mt19937 random(7);
  std::string bytes(count, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

std::string all_of(ReadAhead& blocks) {
  std::string bytes;
  for (auto block = blocks.next(); !block.empty(); block = blocks.next()) bytes += block;
  return bytes;
}

class OpenFile {
 public:
  explicit OpenFile(const std::string& path) : fd(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~OpenFile() { close(fd); }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  const int fd;
};

TEST(ReadAhead, GivesAFilesBytesUpToTheLimit) {
  const TemporaryFolder folder;
  const std::string bytes = random_bytes(3'000'017);
  const std::string path = folder.write("log.out", bytes);
  for (const std::uint64_t limit : {kAll, std::uint64_t{3'000'017}, std::uint64_t{262'144},
                                    std::uint64_t{1}, std::uint64_t{0}}) {
    const OpenFile file(path);
    ReadAhead blocks(file.fd, limit);
    EXPECT_EQ(all_of(blocks), bytes.substr(0, limit)) << limit;
    EXPECT_TRUE(blocks.next().empty()) << "the end stays the end";
  }
}

// Of a file that the kernel holds in part, the first bytes are taken at once, and a thread goes on.
TEST(ReadAhead, GivesWhatHasToBeWaitedForToo) {
  const TemporaryFolder folder;
  const std::string bytes = random_bytes(3'000'017);
  const OpenFile file(folder.write("log.out", bytes));
  for (const off_t held : {off_t{0}, off_t{1} << 18U, off_t{1} << 20U}) {
    ASSERT_EQ(fsync(file.fd), 0);
    ASSERT_EQ(posix_fadvise(file.fd, held, 0, POSIX_FADV_DONTNEED), 0);
    ASSERT_EQ(lseek(file.fd, 0, SEEK_SET), 0);
    ReadAhead blocks(file.fd, kAll);
    EXPECT_EQ(all_of(blocks), bytes) << held;
    EXPECT_TRUE(blocks.next().empty());
  }
}

TEST(ReadAhead, TakesWhatAPipeGivesAsItComes) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
  const std::string bytes = random_bytes(2'000'000);
  std::thread writer([&] {
    std::mt19937 random(3);
    for (std::size_t done = 0; done < bytes.size();) {
      const std::size_t wanted = std::min<std::size_t>(bytes.size() - done, 1 + random() % 90'000);
      const ssize_t written = write(ends[1], bytes.data() + done, wanted);
      ASSERT_GT(written, 0);
      done += static_cast<std::size_t>(written);
    }
    close(ends[1]);
  });
  {
    ReadAhead blocks(ends[0], kAll);
    EXPECT_EQ(all_of(blocks), bytes);
  }
  writer.join();
  close(ends[0]);
}

TEST(ReadAhead, GivesALineOfAPipeBeforeTheNextOneIsThere) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
  {
    ReadAhead blocks(ends[0], kAll);
    for (const std::string line : {"first\n", "second\n"}) {
      ASSERT_EQ(write(ends[1], line.data(), line.size()), static_cast<ssize_t>(line.size()));
      std::string got;
      while (got.size() < line.size()) got += blocks.next();
      EXPECT_EQ(got, line);
    }
    close(ends[1]);
    EXPECT_TRUE(blocks.next().empty());
  }
  close(ends[0]);
}

TEST(ReadAhead, WidensAPipeAndNeverNarrowsIt) {
  constexpr int kWide = 1 << 20;
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
  if (fcntl(ends[0], F_SETPIPE_SZ, kWide) == kWide) {
    { const ReadAhead blocks(ends[0], kAll); }
    EXPECT_EQ(fcntl(ends[0], F_GETPIPE_SZ), kWide);
    const int narrow = fcntl(ends[0], F_SETPIPE_SZ, 1);  // a page
    ASSERT_GT(narrow, 0);
    { const ReadAhead blocks(ends[0], kAll); }
    EXPECT_GT(fcntl(ends[0], F_GETPIPE_SZ), narrow);
  } else {
    GTEST_SKIP() << "this user may not widen pipes";
  }
  close(ends[0]);
  close(ends[1]);
}

TEST(ReadAhead, SaysWhyReadingBrokeOff) {
  const TemporaryFolder folder;
  const OpenFile directory(folder.path());
  ReadAhead blocks(directory.fd, kAll);
  try {
    blocks.next();
    FAIL() << "a directory was read";
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code().value(), EISDIR);
  }
}

TEST(ReadAhead, MayBeLeftInTheMiddle) {
  const TemporaryFolder folder;
  const OpenFile file(folder.write("log.out", random_bytes(2'000'000)));
  ReadAhead blocks(file.fd, kAll);
  EXPECT_FALSE(blocks.next().empty());
}

}  // namespace
}  // namespace llmb::report
