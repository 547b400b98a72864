// Connecting: tries until somebody listens, however many ranks do so at once, and whatever a name's
// first address or a busy DNS server does to a single try.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "runner/parallel/address.h"
#include "runner/parallel/socket.h"

namespace llmb::runner {

struct Caller {
  int rank = 0;  // each pauses a little differently
  // Where to go while the system knows no address for the endpoint's own host; may be empty.
  std::string fallback_host = {};
};

// What connecting does to the world; tests have their own.
struct ConnectingSteps {
  std::function<std::vector<SocketAddress>(const Endpoint&)> look_up = addresses_of;
  std::function<int(const SocketAddress&, std::chrono::milliseconds, Socket&)> connect_once =
      runner::connect_once;
  std::function<Deadline()> now = std::chrono::steady_clock::now;
  std::function<void(std::chrono::milliseconds)> pause = [](std::chrono::milliseconds time) {
    std::this_thread::sleep_for(time);
  };
};

// Tries until somebody listens there, or the deadline passes: the error says why the last try
// failed. Throws at once where the host is not known, and where this process may open no socket.
Socket connect_to(const Endpoint& endpoint, Deadline deadline, const Caller& caller = {},
                  const ConnectingSteps& steps = {});

}  // namespace llmb::runner
