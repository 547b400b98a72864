// What ranks do about the limit of open files, by a limit of this process that leaves few.
#include "runner/parallel/descriptor_limit.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <future>
#include <limits>
#include <thread>

#include "runner/parallel/connecting.h"
#include "runner/parallel/rendezvous.h"
#include "tests/patience.h"

namespace llmb::runner {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// UndefinedBehaviorSanitizer asks by a pipe whether an object can be read, and takes it for none
// where there is no file left for one.
#if defined(__has_feature)
constexpr bool kObjectsAreAskedFor = __has_feature(undefined_behavior_sanitizer);
#else
constexpr bool kObjectsAreAskedFor = false;
#endif
constexpr const char* kNeedsFiles = "the sanitizer needs the files that this test leaves none of";

// The lowest number that is free, and with it all that a process may have below it.
rlim_t next_descriptor() {
  const int next = open("/dev/null", O_RDONLY | O_CLOEXEC);
  close(next);
  return static_cast<rlim_t>(next);
}

// As long as one stands, this process may open so many more files, until somebody raises that.
class FewFiles {
 public:
  explicit FewFiles(rlim_t more) {
    getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit few{next_descriptor() + more, before_.rlim_max};
    setrlimit(RLIMIT_NOFILE, &few);
  }
  ~FewFiles() { setrlimit(RLIMIT_NOFILE, &before_); }
  FewFiles(const FewFiles&) = delete;
  FewFiles& operator=(const FewFiles&) = delete;

 private:
  rlimit before_{};
};

TEST(DescriptorLimit, IsRaisedForTheSocketsOfTheRanks) {
  constexpr int kRanks = 6;
  const FewFiles few(2 * kRanks);
  std::promise<int> listening;
  const std::shared_future<int> port = listening.get_future().share();
  std::vector<std::size_t> open(kRanks);
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < kRanks; ++rank) {
    threads.emplace_back([&, rank] {
      RendezvousOptions options;
      options.patience = kTestPatience;
      ProcessPlace place{rank, kRanks, rank, "127.0.0.1", 0};
      if (rank == 0) options.on_listening = [&](int chosen) { listening.set_value(chosen); };
      if (rank != 0) place.master_port = port.get();
      const std::vector<Socket> sockets = connect_ranks(place, options);
      for (const Socket& socket : sockets) open[static_cast<std::size_t>(rank)] += socket.is_open();
    });
  }
  threads.clear();
  EXPECT_THAT(open, ::testing::Each(kRanks - 1));
}

TEST(DescriptorLimit, RefusesARunThatNeedsMore) {
  const FewFiles restored(100);
  const ProcessPlace place{0, std::numeric_limits<int>::max(), 0, "127.0.0.1", 0};
  try {
    connect_ranks(place, {});
    FAIL() << "was begun";
  } catch (const CommunicationError& error) {
    EXPECT_THAT(error.what(), StartsWith("Too many open files: each of 2147483647 ranks needs a "
                                         "socket to each other one, 2147483711 files in all"));
    EXPECT_THAT(error.what(), HasSubstr("raise the hard limit (ulimit -Hn) of the nodes to "
                                        "2147483711 or more"));
  }
}

TEST(DescriptorLimit, IsNotToBeRaisedWhereThatWasTriedInVain) {
  EXPECT_EQ(too_few_files_text(960, {1024, 4096}, EPERM), "");
  EXPECT_THAT(too_few_files_text(961, {1024, 4096}, EPERM),
              EndsWith("may have 1024 open: its limit could not be raised to the hard one of 4096: "
                       "Operation not permitted"));
}

// Where there is no room for one more, whoever came first and says nothing is sent away.
TEST(DescriptorLimit, LetsNoStrangerKeepARankOut) {
  if (kObjectsAreAskedFor) GTEST_SKIP() << kNeedsFiles;
  std::promise<int> listening;
  std::size_t sockets = 0;
  std::jthread host([&] {
    RendezvousOptions options;
    options.patience = kTestPatience;
    options.on_listening = [&](int chosen) { listening.set_value(chosen); };
    sockets = connect_ranks({0, 2, 0, "127.0.0.1", 0}, options).size();
  });
  const Endpoint door{"127.0.0.1", listening.get_future().get()};
  const Deadline end = std::chrono::steady_clock::now() + kTestPatience;
  std::vector<Socket> silent;
  const auto visit = [&] {
    silent.push_back(connect_to(door, end));
    RendezvousKey::Challenge asked{};
    silent.back().read_all(std::as_writable_bytes(std::span(asked)), end, "be asked");
  };
  for (int i = 0; i < 3; ++i) visit();
  {
    const FewFiles for_the_visitor_alone(1);
    visit();
  }
  std::array<std::byte, 1> more{};
  EXPECT_THROW(silent.front().read_all(more, end, "stay"), CommunicationError);
  EXPECT_EQ(connect_ranks({1, 2, 0, door.host, door.port}, {}).size(), 2U);
  host.join();
  EXPECT_EQ(sockets, 2U);
}

TEST(DescriptorLimit, IsToldByWhoeverMeetsIt) {
  if (kObjectsAreAskedFor) GTEST_SKIP() << kNeedsFiles;
  Listener listener("127.0.0.1", 0);
  const Deadline end = std::chrono::steady_clock::now() + kTestPatience;
  const Socket visitor = connect_to({"127.0.0.1", listener.port()}, end);
  const FewFiles none(0);
  try {
    listener.accept_one(end);
    FAIL() << "was taken";
  } catch (const CommunicationError& error) {
    EXPECT_THAT(error.what(), HasSubstr("could not take a connection at port "));
    EXPECT_THAT(error.what(), HasSubstr("Too many open files"));
  }
  try {
    connect_to({"127.0.0.1", listener.port()}, end);
    FAIL() << "was connected";
  } catch (const CommunicationError& error) {
    EXPECT_THAT(error.what(), HasSubstr("Too many open files"));
  }
}

}  // namespace
}  // namespace llmb::runner
