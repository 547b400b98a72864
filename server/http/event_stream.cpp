#include "server/http/event_stream.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <atomic>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include "parser/foundation/parse_number.h"

namespace llmb::http {
namespace {

using Clock = ConnectionTable::Clock;
using Phase = ConnectionTable::Phase;

// Lets any thread wake the stream that waits for its next event. Wake-ups that come before the
// stream looked again are one.
class Waker {
 public:
  explicit Waker(const asio::any_io_executor& strand) : state_(std::make_shared<State>(strand)) {}

  std::function<void()> wake_function() const {
    return [state = state_] {
      if (state->is_woken.exchange(true)) return;
      asio::post(state->timer.get_executor(), [state] { state->timer.cancel(); });
    };
  }

  // True where `longest` passed without a wake-up.
  asio::awaitable<bool> wait(std::chrono::milliseconds longest) {
    if (state_->is_woken.exchange(false)) co_return false;
    state_->timer.expires_after(longest);
    ErrorCode ec;
    co_await state_->timer.async_wait(asio::redirect_error(asio::use_awaitable, ec));
    co_return !state_->is_woken.exchange(false) && !ec;
  }

 private:
  struct State {
    explicit State(const asio::any_io_executor& strand) : timer(strand) {}
    asio::steady_timer timer;
    std::atomic<bool> is_woken = false;
  };
  std::shared_ptr<State> state_;
};

// Subscribed to the channel and to the server's stop as long as it lives.
class Subscription {
 public:
  Subscription(Service& service, ConnectionTable::Entry& entry, EventChannel& channel,
               const Waker& waker)
      : service_(service),
        entry_(entry),
        channel_(channel),
        id_(channel.subscribe(waker.wake_function())) {
    entry_.set_wake(waker.wake_function());
    ++service_.event_streams_open;
  }
  ~Subscription() {
    channel_.unsubscribe(id_);
    entry_.set_wake(nullptr);
    --service_.event_streams_open;
  }
  Subscription(const Subscription&) = delete;
  Subscription& operator=(const Subscription&) = delete;

 private:
  Service& service_;
  ConnectionTable::Entry& entry_;
  EventChannel& channel_;
  std::uint64_t id_;
};

void append_lines(std::string& text, std::string_view field, std::string_view value) {
  std::size_t begin = 0;
  while (begin <= value.size()) {
    const std::size_t end = std::min(value.find_first_of("\r\n", begin), value.size());
    text.append(field).append(": ").append(value.substr(begin, end - begin)).append("\n");
    begin = end + 1;
  }
}

// The channel's events after `last_id`, which moves on.
std::string pending_text(const EventChannel& channel, std::uint64_t& last_id) {
  bool was_reset = false;
  const std::vector<Event> events = channel.events_after(last_id, was_reset);
  std::string text;
  if (was_reset) {
    // What is kept says nothing to a client that must load everything anew.
    last_id = events.empty() ? channel.last_id() : events.back().id;
    return fmt::format("id: {}\nevent: reset\ndata: {{}}\n\n", last_id);
  }
  for (const Event& event : events) {
    text += fmt::format("id: {}\n", event.id);
    if (!event.name.empty()) append_lines(text, "event", event.name);
    append_lines(text, "data", event.data);
    text += "\n";
    last_id = event.id;
  }
  return text;
}

// A client that has gone is noticed here, and not only when the kernel gives up on it.
bool has_left(Socket& socket) {
  char byte = 0;
  return ::recv(socket.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

}  // namespace

// An id that is none counts as one that is not of this channel.
std::uint64_t first_event_id(const Request& request, const Response& response) {
  const auto text = request.header("last-event-id");
  if (text && !text->empty()) return parser::parse_number<std::uint64_t>(*text).value_or(0);
  if (response.recent_events.count() == 0) return response.events->last_id();
  return response.events->last_id_before(std::chrono::steady_clock::now() - response.recent_events);
}

asio::awaitable<void> stream_events(Service& service, Stream& stream, ConnectionTable::Entry& entry,
                                    EventChannel& channel, std::uint64_t last_id) {
  Waker waker(co_await asio::this_coro::executor);
  const Subscription subscription(service, entry, channel, waker);
  // The id alone, without data, lets a client that reconnects before any event go on from here.
  std::string text = fmt::format("retry: 2000\nid: {}\n\n", last_id);
  while (!service.is_stopping) {
    text += pending_text(channel, last_id);
    if (!text.empty()) {
      entry.enter(Phase::writing, Clock::now() + service.options.write_deadline);
      ErrorCode ec;
      co_await stream.write({asio::buffer(text), asio::const_buffer()}, ec);
      if (ec || entry.is_overdue()) co_return;
      text.clear();
    }
    entry.enter(Phase::streaming);
    const bool was_quiet = co_await waker.wait(service.options.event_heartbeat);
    if (has_left(stream.socket())) co_return;
    if (was_quiet) text = ": heartbeat\n\n";
  }
}

}  // namespace llmb::http
