#include "runner/parallel/rendezvous.h"

#include <array>
#include <cstring>
#include <map>
#include <string>

#include "runner/parallel/communicator.h"

namespace llmb::runner {
namespace {

constexpr std::uint32_t kGreetingMark = 0x4C4D5231;  // tells a rank from a stray visitor

struct Greeting {
  std::uint32_t mark = kGreetingMark;
  std::int32_t rank = 0;
  std::int32_t size = 0;
  std::int32_t port = 0;  // where the greeting rank listens
};
static_assert(sizeof(Greeting) == 16);

// Where a rank listens. An empty host means: where rank 0 is.
struct TableEntry {
  std::array<char, 60> host{};
  std::int32_t port = 0;
};
static_assert(sizeof(TableEntry) == 64);

void send_greeting(Socket& socket, const Greeting& greeting, Deadline deadline) {
  socket.write_all(std::as_bytes(std::span(&greeting, 1)), deadline, "greet another rank");
}

// Nothing where whoever came is no rank of this run.
std::optional<Greeting> read_greeting(Socket& socket, Deadline deadline) {
  Greeting greeting;
  // A visitor that says nothing must not keep the ranks waiting.
  const Deadline soon =
      std::min(deadline, std::chrono::steady_clock::now() + std::chrono::seconds(5));
  try {
    socket.read_all(std::as_writable_bytes(std::span(&greeting, 1)), soon, "read a greeting");
  } catch (const CommunicationError&) {
    return std::nullopt;
  }
  if (greeting.mark != kGreetingMark) return std::nullopt;
  return greeting;
}

class Meeting {
 public:
  Meeting(const ProcessPlace& place, const RendezvousOptions& options)
      : place_(place),
        options_(options),
        deadline_(std::chrono::steady_clock::now() + options.patience),
        sockets_(static_cast<std::size_t>(place.size)) {
    if (!place_.launch_host.empty() && !is_known_host(place_.master_host)) {
      place_.master_host = place_.launch_host;
    }
  }

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
      text += (text.empty() ? "rank " : ", rank ") + std::to_string(rank);
    }
    return text;
  }

  // Takes connections until every rank from `first` on has one.
  void accept_from(Listener& listener, int first, const std::string& where,
                   const std::function<void(const Greeting&)>& on_arrival) {
    while (!missing(first).empty()) {
      Socket visitor = listener.accept_one(deadline_);
      if (!visitor.is_open()) {
        throw CommunicationError("rank " + std::to_string(place_.rank) + " waited " +
                                 std::to_string(options_.patience.count() / 1000) + " s at " +
                                 where + "; did not come: " + missing(first));
      }
      const std::optional<Greeting> greeting = read_greeting(visitor, deadline_);
      if (!greeting) continue;
      if (greeting->size != place_.size || greeting->rank < first ||
          greeting->rank >= place_.size || socket(greeting->rank).is_open()) {
        throw CommunicationError("somebody came to rank " + std::to_string(place_.rank) + " at " +
                                 where + " as rank " + std::to_string(greeting->rank) + " of " +
                                 std::to_string(greeting->size) + ", where rank " +
                                 std::to_string(first) + " and later of " +
                                 std::to_string(place_.size) + " are expected once");
      }
      socket(greeting->rank) = std::move(visitor);
      on_arrival(*greeting);
    }
  }

  void host_all() {
    const Endpoint here{place_.master_host, place_.master_port};
    Listener listener(here.host, here.port);
    if (options_.on_listening) options_.on_listening(listener.port());
    std::vector<TableEntry> table(static_cast<std::size_t>(place_.size));
    accept_from(listener, 1, here.str(), [&](const Greeting& greeting) {
      TableEntry& entry = table[static_cast<std::size_t>(greeting.rank)];
      const std::string host = socket(greeting.rank).peer_host();
      if (!is_loopback_address(host)) {
        std::memcpy(entry.host.data(), host.data(), std::min(host.size(), entry.host.size() - 1));
      }
      entry.port = greeting.port;
    });
    for (int rank = 1; rank < place_.size; ++rank) {
      socket(rank).write_all(std::as_bytes(std::span(table)), deadline_,
                             "tell rank " + std::to_string(rank) + " where the others are");
    }
  }

  void join() {
    const Endpoint master{place_.master_host, place_.master_port};
    Listener listener(master.host, 0);
    try {
      socket(0) = connect_to(master, deadline_);
      send_greeting(socket(0), {kGreetingMark, place_.rank, place_.size, listener.port()},
                    deadline_);
    } catch (const CommunicationError& error) {
      throw CommunicationError("rank " + std::to_string(place_.rank) +
                               " did not reach rank 0: " + error.what());
    }
    std::vector<TableEntry> table(static_cast<std::size_t>(place_.size));
    socket(0).read_all(std::as_writable_bytes(std::span(table)), deadline_,
                       "learn from rank 0 at " + master.str() + " where the others are");
    const std::string master_address = socket(0).peer_host();
    for (int rank = 1; rank < place_.rank; ++rank) {
      const TableEntry& entry = table[static_cast<std::size_t>(rank)];
      const std::string host = entry.host[0] == '\0' ? master_address : entry.host.data();
      socket(rank) = connect_to({host, entry.port}, deadline_);
      send_greeting(socket(rank), {kGreetingMark, place_.rank, place_.size, 0}, deadline_);
    }
    accept_from(listener, place_.rank + 1, "port " + std::to_string(listener.port()),
                [](const Greeting&) {});
  }

  ProcessPlace place_;
  RendezvousOptions options_;
  Deadline deadline_;
  std::vector<Socket> sockets_;
};

}  // namespace

std::vector<Socket> connect_ranks(const ProcessPlace& place, const RendezvousOptions& options) {
  return Meeting(place, options).run();
}

}  // namespace llmb::runner
