// Trying to connect, with a clock that stands still but for pauses, so that minutes take no time.
#include "runner/parallel/connecting.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

#include "tests/patience.h"

namespace llmb::runner {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::Le;

// A network of which a test says what it answers.
class Network {
 public:
  ConnectingSteps steps() {
    ConnectingSteps steps;
    steps.look_up = [this](const Endpoint& endpoint) {
      asked.push_back(endpoint.host);
      return answer_name(endpoint);
    };
    steps.connect_once = [this](const SocketAddress& address, milliseconds patience,
                                Socket& connected) {
      const std::string host = numeric_host(address);
      tried.push_back(host);
      return answer_try(host, patience, connected);
    };
    steps.now = [this] { return now; };
    steps.pause = [this](milliseconds pause) {
      pauses.push_back(pause);
      now += pause;
    };
    return steps;
  }

  std::function<std::vector<SocketAddress>(const Endpoint&)> answer_name =
      [](const Endpoint& endpoint) {
        return addresses_of({"127.0.0.1", endpoint.port});
      };
  std::function<int(const std::string&, milliseconds, Socket&)> answer_try =
      [](const std::string&, milliseconds, Socket&) { return ECONNREFUSED; };
  Deadline now{};
  std::vector<std::string> asked;
  std::vector<std::string> tried;
  std::vector<milliseconds> pauses;
};

Socket some_socket() {
  return Socket(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
}

TEST(Connecting, GoesOnToTheNextAddressWhereOneSwallowsEverything) {
  Network network;
  network.answer_name = [](const Endpoint& endpoint) {
    std::vector<SocketAddress> both = addresses_of({"192.0.2.1", endpoint.port});
    both.push_back(addresses_of({"192.0.2.2", endpoint.port}).front());
    return both;
  };
  network.answer_try = [&](const std::string& host, milliseconds patience, Socket& connected) {
    if (host == "192.0.2.1") {
      network.now += patience;
      return ETIMEDOUT;
    }
    connected = some_socket();
    return 0;
  };
  EXPECT_TRUE(connect_to({"node1", 1}, network.now + std::chrono::minutes(2), {}, network.steps())
                  .is_open());
  EXPECT_THAT(network.tried, ElementsAre("192.0.2.1", "192.0.2.2"));
  EXPECT_LE(network.now - Deadline(), std::chrono::seconds(10));
}

TEST(Connecting, AsksAgainWhereTheNameServerDidNotAnswer) {
  Network network;
  network.answer_name = [&](const Endpoint& endpoint) {
    if (network.asked.size() < 3) throw HostUnknown("node1: try again", true);
    return addresses_of({"127.0.0.1", endpoint.port});
  };
  network.answer_try = [&](const std::string&, milliseconds, Socket& connected) {
    connected = some_socket();
    return 0;
  };
  EXPECT_TRUE(connect_to({"node1", 1}, network.now + std::chrono::minutes(2), {}, network.steps())
                  .is_open());
  EXPECT_EQ(network.asked.size(), 3U);
}

TEST(Connecting, SaysThatANameIsNotKnown) {
  for (const bool may_be_known_later : {false, true}) {
    Network network;
    network.answer_name = [&](const Endpoint&) -> std::vector<SocketAddress> {
      throw HostUnknown("node1 is not known", may_be_known_later);
    };
    try {
      connect_to({"node1", 1}, network.now + std::chrono::minutes(2), {}, network.steps());
      FAIL() << "nobody was there";
    } catch (const CommunicationError& error) {
      EXPECT_THAT(error.what(), HasSubstr("node1 is not known"));
    }
    EXPECT_EQ(network.asked.size() > 1, may_be_known_later);
  }
}

TEST(Connecting, KeepsTheAddressesThatItKnowsWhileTheNameServerDoesNotAnswer) {
  Network network;
  network.answer_name = [&](const Endpoint& endpoint) {
    if (network.asked.size() > 1) throw HostUnknown("node1: try again", true);
    return addresses_of({"192.0.2.7", endpoint.port});
  };
  network.answer_try = [&](const std::string&, milliseconds, Socket& connected) {
    if (network.asked.size() < 4) return ECONNREFUSED;
    connected = some_socket();
    return 0;
  };
  EXPECT_TRUE(connect_to({"node1", 1}, network.now + std::chrono::minutes(2), {}, network.steps())
                  .is_open());
  EXPECT_THAT(network.tried, Each("192.0.2.7"));
}

TEST(Connecting, GoesToTheOtherHostWhileTheFirstIsNotKnown) {
  Network network;
  network.answer_name = [&](const Endpoint& endpoint) {
    if (endpoint.host == "node1" && network.asked.size() == 1) {
      throw HostUnknown("node1: try again", true);
    }
    return addresses_of({endpoint.host == "node1" ? "192.0.2.1" : "192.0.2.9", endpoint.port});
  };
  network.answer_try = [&](const std::string& host, milliseconds, Socket& connected) {
    if (host != "192.0.2.1") return ECONNREFUSED;
    connected = some_socket();
    return 0;
  };
  EXPECT_TRUE(
      connect_to({"node1", 1}, network.now + std::chrono::minutes(2), {3, "login"}, network.steps())
          .is_open());
  EXPECT_THAT(network.asked, ElementsAre("node1", "login", "node1"));
}

TEST(Connecting, TriesLessOftenTheLongerItTakes) {
  for (const int rank : {0, 1, 40}) {
    Network network;
    EXPECT_THROW(
        connect_to({"node1", 1}, network.now + std::chrono::minutes(2), {rank}, network.steps()),
        CommunicationError);
    ASSERT_GT(network.pauses.size(), 10U);
    EXPECT_LT(network.pauses.size(), 130U) << "at most one a second, but for the first ones";
    EXPECT_LE(network.asked.size(), 25U) << "at most one in five seconds";
    EXPECT_LT(network.pauses.front(), milliseconds(100)) << "rank 0 comes soon where all is well";
    EXPECT_THAT(network.pauses, Each(Le(milliseconds(2000))));
    EXPECT_GE(network.pauses[8], milliseconds(1000));
    EXPECT_EQ(network.now - Deadline(), std::chrono::minutes(2)) << "tries until the deadline";
  }
}

TEST(Connecting, SpreadsTheRanks) {
  Network first;
  Network second;
  EXPECT_THROW(connect_to({"node1", 1}, first.now + std::chrono::minutes(1), {1}, first.steps()),
               CommunicationError);
  EXPECT_THROW(connect_to({"node1", 1}, second.now + std::chrono::minutes(1), {2}, second.steps()),
               CommunicationError);
  EXPECT_NE(first.pauses, second.pauses);
}

int option(const Socket& socket, int level, int name) {
  int value = -1;
  socklen_t size = sizeof value;
  EXPECT_EQ(getsockopt(socket.descriptor(), level, name, &value, &size), 0);
  return value;
}

// Of a node without power nothing comes any more, no end of a connection either.
TEST(Connecting, NoticesAnEndThatIsNoLongerThere) {
  Listener listener("127.0.0.1", 0);
  const Deadline deadline = std::chrono::steady_clock::now() + kTestPatience;
  const Socket caller = connect_to({"127.0.0.1", listener.port()}, deadline);
  const Socket called = listener.accept_one(deadline);
  for (const Socket* end : {&caller, &called}) {
    EXPECT_NE(option(*end, SOL_SOCKET, SO_KEEPALIVE), 0);
    const int silent_s = option(*end, IPPROTO_TCP, TCP_KEEPIDLE);
    const int probed_s =
        option(*end, IPPROTO_TCP, TCP_KEEPINTVL) * option(*end, IPPROTO_TCP, TCP_KEEPCNT);
    EXPECT_THAT(silent_s + probed_s, AllOf(Ge(60), Le(120)));
    EXPECT_THAT(option(*end, IPPROTO_TCP, TCP_USER_TIMEOUT), AllOf(Ge(60'000), Le(120'000)));
  }
}

// Whatever family a rank knows the host by.
TEST(Listener, TakesBothFamilies) {
  Listener listener("a name that nobody has to know", 0);
  const Deadline deadline = std::chrono::steady_clock::now() + kTestPatience;
  const Socket by_ipv4 = connect_to({"127.0.0.1", listener.port()}, deadline);
  EXPECT_EQ(listener.accept_one(deadline).peer_host(), "127.0.0.1");
  const Socket probe(socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in6 loopback{};
  loopback.sin6_family = AF_INET6;
  loopback.sin6_addr = in6addr_loopback;
  if (!probe.is_open() ||
      bind(probe.descriptor(), reinterpret_cast<sockaddr*>(&loopback), sizeof loopback) != 0) {
    GTEST_SKIP() << "this machine has no IPv6";
  }
  const Socket by_ipv6 = connect_to({"::1", listener.port()}, deadline);
  EXPECT_EQ(listener.accept_one(deadline).peer_host(), "::1");
}

TEST(Listener, StaysOnTheLoopbackInterfaceWhereItIsNamed) {
  const Listener listener("127.0.0.1", 0);
  SocketAddress bound;
  ASSERT_EQ(getsockname(listener.descriptor(), bound.get(), &bound.size), 0);
  EXPECT_EQ(numeric_host(bound), "127.0.0.1");
}

}  // namespace
}  // namespace llmb::runner
