// Ranks that talk over loopback TCP. They are threads here, each with connections of its own, so
// that ThreadSanitizer sees them; nothing else is shared between them.
#include "runner/parallel/socket_communicator.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <future>
#include <latch>
#include <mutex>
#include <thread>

#include "runner/parallel/connecting.h"
#include "runner/parallel/socket_mesh.h"
#include "tests/patience.h"
#include "tests/runner/parallel/communicator_cases.h"

namespace llmb::runner {
namespace {

using testing::all_ranks;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr std::chrono::milliseconds kLong = kTestPatience;
constexpr std::chrono::milliseconds kShort{400};

// What every rank threw; empty where it did not.
std::vector<std::string> run_socket_ranks(int size, const std::function<void(World&)>& body,
                                          std::chrono::milliseconds call_patience = kLong) {
  std::promise<int> listening;
  const std::shared_future<int> port = listening.get_future().share();
  std::vector<std::string> errors(static_cast<std::size_t>(size));
  const auto run = [&](int rank) {
    RendezvousOptions options;
    options.patience = kLong;
    options.call_patience = call_patience;
    ProcessPlace place{rank, size, rank, "127.0.0.1", 0};
    if (rank == 0) {
      options.on_listening = [&](int chosen) { listening.set_value(chosen); };
      if (size == 1) listening.set_value(0);
    } else {
      place.master_port = port.get();
    }
    try {
      const std::unique_ptr<World> world = make_socket_world(place, options);
      try {
        body(*world);
      } catch (const PeerFailure&) {
        throw;
      } catch (const std::exception& error) {
        world->abort(error.what());
        throw;
      }
    } catch (const std::exception& error) {
      errors[static_cast<std::size_t>(rank)] = error.what();
    }
  };
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < size; ++rank) threads.emplace_back(run, rank);
  threads.clear();
  return errors;
}

void expect_no_errors(const std::vector<std::string>& errors) {
  for (const std::string& error : errors) EXPECT_EQ(error, "");
}

TEST(SocketCommunicator, ReducesInTheOrderOfTheRanks) {
  for (const int ranks : {1, 2, 3, 5, 8}) {
    expect_no_errors(run_socket_ranks(ranks, testing::expect_reductions_in_rank_order<float>));
    expect_no_errors(run_socket_ranks(ranks, testing::expect_reductions_in_rank_order<double>));
  }
}

TEST(SocketCommunicator, MovesWhatItIsTold) {
  for (const int ranks : {2, 5}) {
    expect_no_errors(run_socket_ranks(ranks, testing::expect_moves));
  }
}

TEST(SocketCommunicator, DeliversMessagesInOrderOnEveryChannel) {
  for (const int ranks : {1, 2, 5}) {
    expect_no_errors(run_socket_ranks(ranks, testing::expect_messages));
  }
}

TEST(SocketCommunicator, KeepsGroupsApart) {
  expect_no_errors(run_socket_ranks(6, testing::expect_groups_apart));
}

// Both send more than any buffer of the system holds before they receive.
TEST(SocketCommunicator, DoesNotBlockWhereBothSendFirst) {
  expect_no_errors(run_socket_ranks(2, [](World& world) {
    const auto comm = world.make_group("pp", {0, 1});
    std::vector<float> data(4 << 20, static_cast<float>(world.rank()));
    comm->send(data, 1 - world.rank(), "swap");
    comm->recv(data, 1 - world.rank(), "swap");
    EXPECT_EQ(data.back(), static_cast<float>(1 - world.rank()));
  }));
}

TEST(SocketCommunicator, NamesBothPlacesWhereRanksDisagree) {
  const auto errors = run_socket_ranks(3, [](World& world) {
    const auto comm = world.make_group("tp", all_ranks(3));
    std::vector<float> data(8);
    if (world.rank() == 2) {
      comm->broadcast(data, 2, "head.weights");
    } else {
      comm->all_reduce(data, ReduceOp::sum, "attention.sum");
    }
  });
  EXPECT_THAT(errors[0], AllOf(HasSubstr("head.weights at tests/runner/parallel/socket_"),
                               HasSubstr("attention.sum at tests/runner/parallel/socket_")));
  EXPECT_NE(errors[1], "");
}

TEST(SocketCommunicator, SeesThatAnyOneOfManyDisagrees) {
  for (int other = 0; other < 6; ++other) {
    const auto errors = run_socket_ranks(6, [&](World& world) {
      const auto comm = world.make_group("all", all_ranks(6));
      std::vector<double> sums(2);
      if (world.rank() == other) return comm->barrier("step.end");
      comm->all_reduce(sums, ReduceOp::sum, "losses");
    });
    const auto tells = AllOf(HasSubstr("ranks disagree"), HasSubstr("barrier, step.end"),
                             HasSubstr("of 2 float64, losses"));
    // A rank that has met the other call ends, and one that still waits for it may see just that.
    EXPECT_THAT(errors, Each(AnyOf(tells, HasSubstr("it has ended")))) << "rank " << other;
    EXPECT_THAT(errors, Contains(tells)) << "rank " << other;
  }
}

TEST(SocketCommunicator, LetsNobodyPassABarrierBeforeAllHaveCome) {
  std::atomic<int> came = 0;
  expect_no_errors(run_socket_ranks(6, [&](World& world) {
    const auto comm = world.make_group("all", all_ranks(6));
    for (int round = 1; round <= 100; ++round) {
      ++came;
      comm->barrier("all are here");
      EXPECT_GE(came, 6 * round);
    }
  }));
}

TEST(SocketCommunicator, ComparesCountsAndTypes) {
  const auto counts = run_socket_ranks(2, [](World& world) {
    const auto comm = world.make_group("dp", {0, 1});
    std::vector<float> data(world.rank() == 0 ? 8 : 9);
    comm->all_reduce(data, ReduceOp::sum, "sum");
  });
  for (const std::string& error : counts) {
    EXPECT_THAT(error, AllOf(HasSubstr("of 8 float32"), HasSubstr("of 9 float32")));
  }
  const auto blocks = run_socket_ranks(2, [](World& world) {
    const auto comm = world.make_group("ep", {0, 1});
    const std::vector<float> sent(3);
    std::vector<float> received(world.rank() == 0 ? 3 : 4);
    const std::vector<std::size_t> sends = {1, 2};
    const std::vector<std::size_t> receives = {1, world.rank() == 0 ? 2U : 3U};
    comm->all_to_all(sent, sends, received, receives, "dispatch");
  });
  EXPECT_THAT(blocks[1], AllOf(HasSubstr("sends"), HasSubstr("expects"), HasSubstr("dispatch")));
}

TEST(SocketCommunicator, ARankThatFailsWakesTheOthers) {
  const auto errors = run_socket_ranks(3, [](World& world) {
    const auto comm = world.make_group("all", all_ranks(3));
    if (world.rank() == 1) throw std::runtime_error("out of tokens");
    comm->barrier("never");
  });
  EXPECT_EQ(errors[1], "out of tokens");
  EXPECT_THAT(errors[0], HasSubstr("rank 1 failed: out of tokens"));
  EXPECT_THAT(errors[2], HasSubstr("rank 1 failed: out of tokens"));
}

TEST(SocketCommunicator, NoticesARankThatEndsTooEarly) {
  const auto errors = run_socket_ranks(
      2,
      [](World& world) {
        const auto comm = world.make_group("all", all_ranks(2));
        if (world.rank() == 0) comm->barrier("step.end");
      },
      kLong);
  EXPECT_THAT(errors[0], AllOf(HasSubstr("waited for rank 1"), HasSubstr("step.end"),
                               HasSubstr("it has ended")));
}

// And not one that waits for it, too.
TEST(SocketCommunicator, NamesTheOneOfManyThatDidNotCome) {
  for (const int absent : {0, 4}) {
    std::latch begin(6);
    std::latch given_up(5);
    const auto errors = run_socket_ranks(
        6,
        [&](World& world) {
          const auto comm = world.make_group("all", all_ranks(6));
          begin.arrive_and_wait();
          if (world.rank() == absent) return given_up.wait();
          try {
            comm->barrier("step.end");
          } catch (...) {
            given_up.count_down();
            throw;
          }
        },
        std::chrono::seconds(2));
    for (int rank = 0; rank < 6; ++rank) {
      if (rank == absent) continue;
      EXPECT_THAT(errors[static_cast<std::size_t>(rank)],
                  AllOf(HasSubstr(fmt::format("waited for rank {} in barrier", absent)),
                        HasSubstr("nothing came in time")));
    }
  }
}

// As the system ends a connection whose other end has answered nothing for too long.
TEST(SocketCommunicator, SaysWhyAConnectionBroke) {
  Listener listener("127.0.0.1", 0);
  const Deadline deadline = std::chrono::steady_clock::now() + kLong;
  std::vector<Socket> connections(2);
  connections[1] = connect_to({"127.0.0.1", listener.port()}, deadline);
  SocketMesh mesh(0, std::move(connections), kLong);
  {
    const Socket other = listener.accept_one(deadline);
    const linger at_once{1, 0};
    ASSERT_EQ(setsockopt(other.descriptor(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once), 0);
  }
  try {
    mesh.receive(1, "world", {});
    FAIL() << "received something";
  } catch (const PeerFailure& failure) {
    EXPECT_THAT(failure.what(),
                HasSubstr("rank 1 has vanished: its connection broke: Connection reset"));
  }
}

TEST(SocketCommunicator, WaitsNoLongerThanItsPatience) {
  std::promise<void> end;
  const auto ended = end.get_future().share();
  const auto errors = run_socket_ranks(
      2,
      [&](World& world) {
        const auto comm = world.make_group("all", all_ranks(2));
        if (world.rank() == 1) return ended.wait();
        try {
          comm->barrier("step.end");
        } catch (...) {
          end.set_value();
          throw;
        }
      },
      kShort);
  EXPECT_THAT(errors[0], AllOf(HasSubstr("waited for rank 1"), HasSubstr("nothing came in time")));
}

// A rank that writes its checkpoint, or measures for all, may take longer than ranks take to come.
TEST(Rendezvous, IsNotWhatCallsWaitFor) {
  EXPECT_EQ(RendezvousOptions().call_patience, kRankPatience);
  EXPECT_GT(RendezvousOptions().call_patience, RendezvousOptions().patience);
}

TEST(Rendezvous, NamesTheRanksThatDidNotCome) {
  RendezvousOptions options;
  options.patience = kShort;
  try {
    connect_ranks({0, 3, 0, "127.0.0.1", 0}, options);
    FAIL() << "nobody came, and yet all are there";
  } catch (const CommunicationError& error) {
    EXPECT_THAT(error.what(), HasSubstr("did not come: rank 1, rank 2"));
  }
}

TEST(Rendezvous, WaitsAsLongAsThePlaceSays) {
  ProcessPlace place{0, 2, 0, "127.0.0.1", 0};
  place.rendezvous_wait = std::chrono::seconds(0);
  try {
    connect_ranks(place, {});
    FAIL() << "nobody came, and yet all are there";
  } catch (const CommunicationError& error) {
    EXPECT_THAT(error.what(), HasSubstr("rank 0 waited 0 s"));
  }
}

TEST(Rendezvous, SaysThatRankZeroIsNotThere) {
  int unused_port = 0;
  { unused_port = Listener("127.0.0.1", 0).port(); }
  RendezvousOptions options;
  options.patience = kShort;
  try {
    connect_ranks({2, 3, 0, "127.0.0.1", unused_port}, options);
    FAIL() << "nobody listens, and yet somebody answered";
  } catch (const CommunicationError& error) {
    EXPECT_THAT(error.what(),
                AllOf(HasSubstr("rank 2 did not reach rank 0"),
                      HasSubstr(std::to_string(unused_port)), HasSubstr("Connection refused")));
  }
}

// Slurm may know a node by a name that no resolver knows.
TEST(Rendezvous, TakesTheHostOfTheLaunchWhereTheNodesNameIsUnknown) {
  RendezvousOptions options;
  options.patience = std::chrono::seconds(30);
  std::promise<int> port;
  options.on_listening = [&](int chosen) { port.set_value(chosen); };
  std::thread first([&] {
    EXPECT_EQ(connect_ranks({0, 2, 0, "no name.invalid", 0, "127.0.0.1"}, options).size(), 2U);
  });
  const int chosen = port.get_future().get();
  EXPECT_EQ(connect_ranks({1, 2, 0, "no name.invalid", chosen, "127.0.0.1"}, {}).size(), 2U);
  first.join();
}

// Rank 0 of two, at a port that it tells.
class Host {
 public:
  explicit Host(RendezvousKey key = {}, std::chrono::milliseconds patience = kLong) {
    thread_ = std::jthread([this, key, patience] {
      RendezvousOptions options;
      options.patience = patience;
      options.on_listening = [this](int chosen) { listening_.set_value(chosen); };
      try {
        ProcessPlace place{0, 2, 0, "127.0.0.1", 0};
        place.key = key;
        sockets_ = connect_ranks(place, options).size();
      } catch (const CommunicationError& error) {
        error_ = error.what();
      }
    });
  }
  int port() const { return port_.get(); }
  Socket visit() const { return connect_to({"127.0.0.1", port()}, deadline_); }
  Deadline deadline() const { return deadline_; }
  // What the other rank gets.
  std::size_t join(RendezvousKey key = {}, std::chrono::milliseconds patience = kLong) const {
    ProcessPlace place{1, 2, 0, "127.0.0.1", port()};
    place.key = key;
    RendezvousOptions options;
    options.patience = patience;
    return connect_ranks(place, options).size();
  }
  std::size_t sockets() {
    thread_.join();
    return sockets_;
  }
  std::string error() {
    thread_.join();
    return error_;
  }

 private:
  std::promise<int> listening_;
  std::shared_future<int> port_ = listening_.get_future().share();
  const Deadline deadline_ = std::chrono::steady_clock::now() + kLong;
  std::size_t sockets_ = 0;
  std::string error_;
  std::jthread thread_;
};

TEST(Rendezvous, IgnoresAVisitorThatIsNoRank) {
  Host host;
  {
    Socket visitor = host.visit();
    const std::string greeting = "GET / HTTP/1.1\r\nHost: here\r\nX: more than a greeting\r\n\r\n";
    visitor.write_all(std::as_bytes(std::span(greeting)), host.deadline(), "visit");
  }
  EXPECT_EQ(host.join(), 2U);
  EXPECT_EQ(host.sockets(), 2U);
}

// Each alone may stay for five seconds: one after another they would outlast everybody's patience.
TEST(Rendezvous, DoesNotWaitForThoseThatSayNothing) {
  Host host;
  std::vector<Socket> silent;
  for (int i = 0; i < 40; ++i) silent.push_back(host.visit());
  EXPECT_EQ(host.join(), 2U);
  EXPECT_EQ(host.sockets(), 2U);
}

TEST(Rendezvous, LetsNobodyWithoutTheKeyTakeAPlace) {
  const RendezvousKey key = *RendezvousKey::parse("000102030405060708090a0b0c0d0e0f");
  Host host(key);
  // As the rank that is waited for, and as it says it; but for the key.
  EXPECT_THROW(host.join(*RendezvousKey::parse("ff0102030405060708090a0b0c0d0e0f"), kLong),
               CommunicationError);
  EXPECT_THROW(host.join({}, kLong), CommunicationError);
  EXPECT_EQ(host.join(key), 2U);
  EXPECT_EQ(host.sockets(), 2U);
}

TEST(Rendezvous, NamesTheRankThatDidNotComeWithTheKey) {
  Host host(*RendezvousKey::parse("000102030405060708090a0b0c0d0e0f"), kShort);
  EXPECT_THROW(host.join({}, kShort), CommunicationError);
  EXPECT_THAT(host.error(), HasSubstr("did not come: rank 1"));
}

// The value is that of the authors' own program.
TEST(RendezvousKey, SignsAsSipHashDoes) {
  const RendezvousKey key = *RendezvousKey::parse("000102030405060708090A0b0c0d0e0f");
  std::array<std::byte, 15> message{};
  for (std::size_t i = 0; i < message.size(); ++i) message[i] = static_cast<std::byte>(i);
  EXPECT_EQ(key.sign(message), 0xa129ca6149be45e5U);
  EXPECT_NE(RendezvousKey().sign(message), key.sign(message));
  EXPECT_NE(RendezvousKey::new_challenge(), RendezvousKey::new_challenge());
}

TEST(RendezvousKey, IsNotToldWhereItCannotBeRead) {
  for (const char* text :
       {"0001", "000102030405060708090a0b0c0d0e0g", "000102030405060708090a0b0c0d0e0f0"}) {
    const auto key = RendezvousKey::parse(text);
    ASSERT_FALSE(key) << text;
    EXPECT_THAT(key.error().message, Not(HasSubstr(text)));
  }
  EXPECT_TRUE(RendezvousKey::parse(""));
}

}  // namespace
}  // namespace llmb::runner
