#include "runner/parallel/rendezvous.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <list>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "runner/parallel/communicator.h"
#include "runner/parallel/connecting.h"
#include "runner/parallel/descriptor_limit.h"

namespace llmb::runner {
namespace {

constexpr std::uint32_t kGreetingMark = 0x4C4D5232;  // tells a rank from a stray visitor
// A visitor has so long to say who it is, and so many beside the ranks may be about it at once:
// where there are more, the one that came first is sent away.
constexpr std::chrono::seconds kVisit{5};
constexpr std::size_t kStrangersMax = 256;
constexpr std::chrono::milliseconds kBetweenAccepts{50};

using Challenge = RendezvousKey::Challenge;

// What a rank says first, in answer to the challenge of where it came.
struct Greeting {
  std::uint32_t mark = kGreetingMark;
  std::int32_t rank = 0;
  std::int32_t size = 0;
  std::int32_t port = 0;  // where the greeting rank listens
  Challenge challenge{};  // for rank 0, which has to know the key too
};
struct SignedGreeting {
  Greeting greeting;
  std::uint64_t signature = 0;
};
static_assert(sizeof(SignedGreeting) == 40);

// Where a rank listens. An empty host means: where rank 0 is.
struct TableEntry {
  std::array<char, 60> host{};
  std::int32_t port = 0;
};
static_assert(sizeof(TableEntry) == 64);

template <typename Value>
std::span<const std::byte> bytes_of_value(const Value& value) {
  return std::as_bytes(std::span(&value, 1));
}

// Gives the challenge that rank 0's table has to be signed with.
Challenge greet(Socket& socket, const RendezvousKey& key, int rank, int size, int port,
                Deadline deadline) {
  Challenge asked{};
  socket.read_all(std::as_writable_bytes(std::span(asked)), deadline, "be asked for the job's key");
  SignedGreeting message;
  message.greeting = {kGreetingMark, rank, size, port, RendezvousKey::new_challenge()};
  message.signature = key.sign(asked, bytes_of_value(message.greeting));
  socket.write_all(bytes_of_value(message), deadline, "greet another rank");
  return message.greeting.challenge;
}

// Whoever came, until it has said who it is.
class Visitor {
 public:
  enum class State { silent, greeted, gone };

  explicit Visitor(Socket socket)
      : socket_(std::move(socket)),
        until_(std::chrono::steady_clock::now() + kVisit),
        challenge_(RendezvousKey::new_challenge()) {
    // A new connection's buffer has room.
    is_gone_ = ::send(socket_.descriptor(), challenge_.data(), challenge_.size(), MSG_NOSIGNAL) !=
               static_cast<ssize_t>(challenge_.size());
  }

  int descriptor() const { return socket_.descriptor(); }
  Deadline until() const { return until_; }
  const Greeting& greeting() const { return message_.greeting; }
  Socket take_socket() { return std::move(socket_); }

  // Takes what has come. One that says what a rank would not say, or cannot sign it, is gone.
  State look(const RendezvousKey& key, Deadline now) {
    auto* const bytes = reinterpret_cast<std::byte*>(&message_);
    while (!is_gone_ && got_ < sizeof message_) {
      const ssize_t got =
          ::recv(socket_.descriptor(), bytes + got_, sizeof message_ - got_, MSG_DONTWAIT);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
      if (got <= 0) is_gone_ = true;
      got_ += static_cast<std::size_t>(std::max<ssize_t>(0, got));
    }
    if (is_gone_) return State::gone;
    if (got_ < sizeof message_) return now < until_ ? State::silent : State::gone;
    const bool is_ours =
        message_.greeting.mark == kGreetingMark &&
        message_.signature == key.sign(challenge_, bytes_of_value(message_.greeting));
    return is_ours ? State::greeted : State::gone;
  }

 private:
  Socket socket_;
  Deadline until_;
  Challenge challenge_;
  SignedGreeting message_;
  std::size_t got_ = 0;
  bool is_gone_ = false;
};

// The next rank to come, whoever else comes or stays silent. Nothing where the deadline passes.
class Reception {
 public:
  Reception(Listener& listener, const RendezvousKey& key, int ranks)
      : listener_(listener),
        key_(key),
        visitors_max_(kStrangersMax + static_cast<std::size_t>(ranks)) {}

  std::optional<std::pair<Greeting, Socket>> next(Deadline deadline) {
    while (true) {
      const Deadline now = std::chrono::steady_clock::now();
      for (auto visitor = visitors_.begin(); visitor != visitors_.end();) {
        const Visitor::State state = visitor->look(key_, now);
        if (state == Visitor::State::greeted) {
          std::pair<Greeting, Socket> found(visitor->greeting(), visitor->take_socket());
          visitors_.erase(visitor);
          return found;
        }
        visitor = state == Visitor::State::gone ? visitors_.erase(visitor) : std::next(visitor);
      }
      if (now >= deadline) return std::nullopt;
      if (!wait(deadline)) continue;
      Socket came = take_one(deadline);
      if (!came.is_open()) continue;
      if (visitors_.size() == visitors_max_) visitors_.pop_front();
      visitors_.emplace_back(std::move(came));
    }
  }

 private:
  // True where somebody new stands at the door.
  bool wait(Deadline deadline) {
    std::vector<pollfd> waits = {{listener_.descriptor(), POLLIN, 0}};
    for (const Visitor& visitor : visitors_) {
      waits.push_back({visitor.descriptor(), POLLIN, 0});
      deadline = std::min(deadline, visitor.until());
    }
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    const auto limit = std::clamp<std::int64_t>(left.count(), 0, 1'000'000);
    return poll(waits.data(), waits.size(), static_cast<int>(limit)) > 0 && waits[0].revents != 0;
  }

  // Of those at the door, or none. Where this process may have no more files, whoever has been
  // silent for longest makes room; what the system lacks is waited for.
  Socket take_one(Deadline deadline) {
    const Deadline now = std::chrono::steady_clock::now();
    try {
      return listener_.accept_one(now);
    } catch (const NoDescriptor& lack) {
      if (lack.is_own_limit() && !visitors_.empty()) {
        visitors_.pop_front();
        return {};
      }
      if (lack.is_own_limit() || now + kBetweenAccepts >= deadline) throw;
    }
    std::this_thread::sleep_for(kBetweenAccepts);
    return {};
  }

  Listener& listener_;
  const RendezvousKey& key_;
  const std::size_t visitors_max_;
  std::list<Visitor> visitors_;
};

class Meeting {
 public:
  Meeting(const ProcessPlace& place, const RendezvousOptions& options)
      : place_(place),
        options_(options),
        patience_(place.rendezvous_wait ? *place.rendezvous_wait : options.patience),
        deadline_(std::chrono::steady_clock::now() + patience_),
        sockets_(static_cast<std::size_t>(place.size)) {}

  std::vector<Socket> run() {
    if (place_.size == 1) return std::move(sockets_);
    place_.rank == 0 ? host_all() : join();
    return std::move(sockets_);
  }

 private:
  Socket& socket(int rank) { return sockets_[static_cast<std::size_t>(rank)]; }

  std::string missing(int first) const {
    std::string text;
    for (int rank = first; rank < place_.size; ++rank) {
      if (rank == place_.rank || sockets_[static_cast<std::size_t>(rank)].is_open()) continue;
      text += fmt::format("{}{}", text.empty() ? "rank " : ", rank ", rank);
    }
    return text;
  }

  // Takes connections until every rank from `first` on has one.
  void accept_from(Listener& listener, int first, const std::string& where,
                   const std::function<void(const Greeting&)>& on_arrival) {
    Reception reception(listener, place_.key, place_.size);
    while (!missing(first).empty()) {
      auto came = reception.next(deadline_);
      if (!came) {
        throw CommunicationError(fmt::format("rank {} waited {} s at {}; did not come: {}",
                                             place_.rank, patience_.count() / 1000, where,
                                             missing(first)));
      }
      auto& [greeting, visitor] = *came;
      if (greeting.size != place_.size || greeting.rank < first || greeting.rank >= place_.size ||
          socket(greeting.rank).is_open()) {
        throw CommunicationError(
            fmt::format("somebody came to rank {} at {} as rank {} of {}, where rank {} and later "
                        "of {} are expected once",
                        place_.rank, where, greeting.rank, greeting.size, first, place_.size));
      }
      socket(greeting.rank) = std::move(visitor);
      on_arrival(greeting);
    }
  }

  void host_all() {
    const Endpoint here{place_.master_host, place_.master_port};
    Listener listener(here.host, here.port);
    if (options_.on_listening) options_.on_listening(listener.port());
    std::vector<TableEntry> table(static_cast<std::size_t>(place_.size));
    std::vector<Challenge> challenges(table.size());
    accept_from(listener, 1, here.str(), [&](const Greeting& greeting) {
      TableEntry& entry = table[static_cast<std::size_t>(greeting.rank)];
      challenges[static_cast<std::size_t>(greeting.rank)] = greeting.challenge;
      const std::string host = socket(greeting.rank).peer_host();
      if (!is_loopback_address(host)) {
        std::memcpy(entry.host.data(), host.data(), std::min(host.size(), entry.host.size() - 1));
      }
      entry.port = greeting.port;
    });
    for (int rank = 1; rank < place_.size; ++rank) {
      const std::string what = fmt::format("tell rank {} where the others are", rank);
      const auto bytes = std::as_bytes(std::span(table));
      const std::uint64_t signature =
          place_.key.sign(challenges[static_cast<std::size_t>(rank)], bytes);
      socket(rank).write_all(bytes, deadline_, what);
      socket(rank).write_all(bytes_of_value(signature), deadline_, what);
    }
  }

  void join() {
    const Endpoint master{place_.master_host, place_.master_port};
    Listener listener(master.host, 0);
    Challenge challenge{};
    try {
      socket(0) = connect_to(master, deadline_, {place_.rank, place_.launch_host});
      challenge =
          greet(socket(0), place_.key, place_.rank, place_.size, listener.port(), deadline_);
    } catch (const CommunicationError& error) {
      throw CommunicationError(
          fmt::format("rank {} did not reach rank 0: {}", place_.rank, error.what()));
    }
    std::vector<TableEntry> table(static_cast<std::size_t>(place_.size));
    std::uint64_t signature = 0;
    const std::string what = "learn from rank 0 at " + master.str() + " where the others are";
    socket(0).read_all(std::as_writable_bytes(std::span(table)), deadline_, what);
    socket(0).read_all(std::as_writable_bytes(std::span(&signature, 1)), deadline_, what);
    if (signature != place_.key.sign(challenge, std::as_bytes(std::span(table)))) {
      throw CommunicationError(
          fmt::format("whoever answers rank {} at {} does not know the job's LLMB_RENDEZVOUS_KEY",
                      place_.rank, master.str()));
    }
    const std::string master_address = socket(0).peer_host();
    for (int rank = 1; rank < place_.rank; ++rank) {
      const TableEntry& entry = table[static_cast<std::size_t>(rank)];
      const std::string host = entry.host[0] == '\0' ? master_address : entry.host.data();
      socket(rank) = connect_to({host, entry.port}, deadline_, {place_.rank});
      greet(socket(rank), place_.key, place_.rank, place_.size, 0, deadline_);
    }
    accept_from(listener, place_.rank + 1, fmt::format("port {}", listener.port()),
                [](const Greeting&) {});
  }

  const ProcessPlace place_;
  RendezvousOptions options_;
  std::chrono::milliseconds patience_;
  Deadline deadline_;
  std::vector<Socket> sockets_;
};

}  // namespace

std::vector<Socket> connect_ranks(const ProcessPlace& place, const RendezvousOptions& options) {
  if (place.size > 1) allow_sockets_of(place.size);
  return Meeting(place, options).run();
}

}  // namespace llmb::runner
