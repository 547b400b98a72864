#include "runner/parallel/connecting.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

namespace llmb::runner {
namespace {

using std::chrono::milliseconds;

// An address may swallow what is sent to it, while the name's next one would answer.
constexpr milliseconds kTryPatience{std::chrono::seconds(5)};
// Rank 0 may start much later than thousands of others, who share a name server and its switch.
constexpr milliseconds kBetweenLookUps{std::chrono::seconds(5)};
constexpr milliseconds kFirstPause{50};
constexpr milliseconds kPauseMax{std::chrono::seconds(1)};
constexpr int kSpread = 64;  // ranks that pause differently, up to twice as long

class AddressBook {
 public:
  AddressBook(const Endpoint& endpoint, const Caller& caller, const ConnectingSteps& steps)
      : steps_(steps), candidates_{endpoint} {
    if (!caller.fallback_host.empty()) {
      candidates_.push_back({caller.fallback_host, endpoint.port});
    }
  }

  // Those that were known last, and why there are no others.
  const std::vector<SocketAddress>& addresses() {
    const Deadline now = steps_.now();
    if (!looked_up_at_ || now - *looked_up_at_ >= kBetweenLookUps) {
      looked_up_at_ = now;
      look_up();
    }
    return addresses_;
  }
  const std::string& reason() const { return reason_; }

 private:
  void look_up() {
    std::optional<HostUnknown> first;
    bool may_be_known_later = false;
    for (const Endpoint& candidate : candidates_) {
      try {
        addresses_ = steps_.look_up(candidate);
        return;
      } catch (const HostUnknown& unknown) {
        may_be_known_later = may_be_known_later || unknown.may_be_known_later();
        if (!first) first = unknown;
      }
    }
    if (!may_be_known_later && addresses_.empty()) throw HostUnknown(*first);
    reason_ = first->what();
  }

  const ConnectingSteps& steps_;
  std::vector<Endpoint> candidates_;
  std::vector<SocketAddress> addresses_;
  std::string reason_;
  std::optional<Deadline> looked_up_at_;
};

}  // namespace

Socket connect_to(const Endpoint& endpoint, Deadline deadline, const Caller& caller,
                  const ConnectingSteps& steps) {
  const auto left = [&] {
    return std::max(milliseconds(0), std::chrono::ceil<milliseconds>(deadline - steps.now()));
  };
  AddressBook book(endpoint, caller, steps);
  milliseconds pause = kFirstPause;
  while (true) {
    const std::vector<SocketAddress>& addresses = book.addresses();
    std::string reason = book.reason();
    for (const SocketAddress& address : addresses) {
      Socket connected;
      const int error = steps.connect_once(address, std::min(left(), kTryPatience), connected);
      if (error == 0) return connected;
      reason = std::strerror(error);
      if (error == EMFILE) {  // what the system lacks others may give back
        throw CommunicationError("could not connect to " + endpoint.str() + ": " + reason);
      }
    }
    if (left() == milliseconds(0)) {
      throw CommunicationError("could not connect to " + endpoint.str() + ": " + reason);
    }
    const milliseconds own_pause =
        std::min(left(), pause + pause * (caller.rank % kSpread) / kSpread);
    steps.pause(own_pause);
    pause = std::min(2 * pause, kPauseMax);
  }
}

}  // namespace llmb::runner
