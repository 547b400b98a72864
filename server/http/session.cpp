#include "server/http/session.h"

#include <spdlog/spdlog.h>

#include <boost/asio/async_result.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <exception>
#include <memory>

#include "server/http/event_stream.h"
#include "server/http/message_parser.h"

namespace llmb::http {
namespace {

using Clock = ConnectionTable::Clock;
using Phase = ConnectionTable::Phase;

// Small, since ten thousand idle connections each hold one; a body is read in larger pieces.
constexpr std::size_t kReadBytes = 1024;
constexpr std::size_t kReadBodyBytes = std::size_t{32} * 1024;
// What a client must take within one write deadline; larger than all but exports.
constexpr std::size_t kWritePieceBytes = BodyBlocks::kWholeBlockBytes;
constexpr std::chrono::seconds kGoodbyeDeadline{1};
constexpr std::size_t kGoodbyeBytesMax = std::size_t{4} * 1024 * 1024;

// Runs `task` on `pool` and goes on where it was called once the task has ended; rethrows what the
// task threw. False where the pool refused it: then `task` was not called.
asio::awaitable<bool> run_on(WorkerPool& pool, std::function<void()> task) {
  using Outcome = std::optional<std::exception_ptr>;  // nothing: refused
  auto outcome = std::make_shared<Outcome>();
  const auto executor = co_await asio::this_coro::executor;
  const auto initiate = [&](auto handler) {
    // std::function wants a copy, and the handler can only be moved.
    auto resume = std::make_shared<decltype(handler)>(std::move(handler));
    const auto go_on = [executor, resume] {
      asio::post(executor, [resume] { std::move (*resume)(); });
    };
    const bool is_taken = pool.submit([task = std::move(task), outcome, go_on] {
      outcome->emplace();
      try {
        task();
      } catch (...) {
        *outcome = std::current_exception();
      }
      go_on();
    });
    if (!is_taken) go_on();
  };
  co_await asio::async_initiate<const asio::use_awaitable_t<>, void()>(initiate,
                                                                       asio::use_awaitable);
  if (!*outcome) co_return false;
  if (**outcome) std::rethrow_exception(**outcome);
  co_return true;
}

class Session {
 public:
  Session(Service& service, Socket socket, asio::ssl::context* tls)
      : service_(service),
        stream_(std::move(socket), tls),
        entry_(service.connections, stream_.socket().native_handle()),
        buffer_(2 * std::max(service.options.header_bytes_max, kReadBodyBytes)),
        parser_(service.options.header_bytes_max) {
    ErrorCode ignored;
    const auto endpoint = stream_.socket().remote_endpoint(ignored);
    if (!ignored) peer_ = endpoint.address().to_string();
  }

  asio::awaitable<void> run();

 private:
  enum class Outcome { message, refused, closed };

  asio::awaitable<Outcome> read_message();
  // What the parser makes of the bytes at hand; nothing where it needs more.
  std::optional<Outcome> parse_buffer();
  std::optional<Outcome> refuse(Response refusal);
  asio::awaitable<bool> send_continue();
  asio::awaitable<bool> answer();
  // The response to the message that was read, on the pool that its route wants.
  asio::awaitable<WireResponse> make_answer(std::optional<Response>& response,
                                            const WireOptions& options);
  asio::awaitable<bool> write(const WireResponse& wire);
  asio::awaitable<bool> write_stream(const WireResponse& wire);
  // The next bytes of a body that is read while it is sent, or why there are none.
  asio::awaitable<std::string> read_stream(StreamedBody& body, std::string& problem);
  asio::awaitable<void> say_goodbye();
  void forget_message();

  Service& service_;
  Stream stream_;
  ConnectionTable::Entry entry_;
  boost::beast::flat_buffer buffer_;
  MessageParser parser_;
  std::string peer_;
  std::optional<Response> refusal_;
  Clock::time_point message_read_at_;
  bool is_reading_body_ = false;
  bool must_continue_ = false;
  bool is_broken_off_ = false;
};

std::optional<Session::Outcome> Session::refuse(Response refusal) {
  refusal_ = std::move(refusal);
  return Outcome::refused;
}

std::optional<Session::Outcome> Session::parse_buffer() {
  using Status = MessageParser::Status;
  for (;;) {
    const asio::const_buffer bytes = buffer_.cdata();
    std::size_t consumed = 0;
    Status status = parser_.feed({static_cast<const char*>(bytes.data()), bytes.size()}, consumed);
    buffer_.consume(consumed);
    if (status == Status::header) {
      is_reading_body_ = true;
      must_continue_ = parser_.expects_continue();
      status = parser_.set_body_bytes_max(service_.body_bytes_max(parser_.request()));
      if (status == Status::need_more) continue;
    }
    if (status == Status::complete) return Outcome::message;
    if (status == Status::refused) return refuse(parser_.problem());
    if (buffer_.size() >= buffer_.max_size() / 2) {
      return refuse(problem(431, "Request header too large", "a line of the message is too long"));
    }
    return std::nullopt;
  }
}

asio::awaitable<Session::Outcome> Session::read_message() {
  bool has_begun = false;
  entry_.enter(Phase::idle, Clock::now() + service_.options.idle_deadline);
  for (;;) {
    if (buffer_.size() > 0) {
      if (!has_begun) entry_.enter(Phase::reading, Clock::now() + service_.options.read_deadline);
      has_begun = true;
      if (const auto outcome = parse_buffer()) co_return *outcome;
    }
    if (std::exchange(must_continue_, false) && !co_await send_continue()) {
      co_return Outcome::closed;
    }
    ErrorCode ec;
    const auto space = buffer_.prepare(is_reading_body_ ? kReadBodyBytes : kReadBytes);
    const std::size_t size = co_await stream_.read_some(space, ec);
    buffer_.commit(size);
    if (entry_.is_overdue() && has_begun) {
      refusal_ = problem(408, "Request timeout", "the request did not arrive in its time");
      co_return Outcome::refused;
    }
    if (ec) co_return Outcome::closed;
  }
}

asio::awaitable<bool> Session::send_continue() {
  constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
  ErrorCode ec;
  co_await stream_.write({asio::buffer(kContinue), asio::const_buffer()}, ec);
  co_return !ec;
}

asio::awaitable<bool> Session::write(const WireResponse& wire) {
  if (wire.streamed_body) co_return co_await write_stream(wire);
  BodyBlocks blocks = wire.blocks();
  std::string_view head = wire.head;
  std::string_view block = blocks.next();
  std::size_t sent = kWritePieceBytes;  // since the deadline was set
  ErrorCode ec;
  do {
    if (sent >= kWritePieceBytes) {
      entry_.enter(Phase::writing, Clock::now() + service_.options.write_deadline);
      sent = 0;
    }
    const Stream::Buffers buffers = {asio::buffer(head), asio::buffer(block)};
    co_await stream_.write(buffers, ec);
    sent += block.size();
    head = {};
    block = blocks.next();
  } while (!ec && !block.empty());
  co_return !ec;
}

asio::awaitable<std::string> Session::read_stream(StreamedBody& body, std::string& problem) {
  std::string bytes;
  entry_.enter(Phase::handling);
  // What is thrown stays on the pool's thread: the session needs its words alone.
  const bool is_taken = co_await run_on(service_.streaming_pool(), [&] {
    try {
      bytes = body.next();
    } catch (const std::exception& error) {
      problem = error.what();
    }
  });
  if (!is_taken) problem = "the server stops";
  co_return bytes;
}

// One that cannot be read to its end is broken off: by a reset, since an end would look to a client
// of HTTP/1.0 as if it had all.
asio::awaitable<bool> Session::write_stream(const WireResponse& wire) {
  Clock::duration left = service_.options.write_deadline;  // for what is sent of a MiB
  std::size_t sent = 0;                                    // of it
  std::string_view head = wire.head;
  for (;;) {
    std::string problem;
    const std::string bytes = co_await read_stream(*wire.streamed_body, problem);
    if (!problem.empty()) {
      const Request& request = parser_.request();
      spdlog::warn("{} {} was broken off: {}", request.method, request.target, problem);
      entry_.reset_when_closed();
      is_broken_off_ = true;
      co_return false;
    }
    if (bytes.empty() && head.empty()) co_return true;
    const Clock::time_point begin = Clock::now();
    entry_.enter(Phase::writing, begin + left);
    ErrorCode ec;
    co_await stream_.write({asio::buffer(head), asio::buffer(bytes)}, ec);
    if (ec) co_return false;
    head = {};
    left -= Clock::now() - begin;
    sent += bytes.size();
    if (sent < kWritePieceBytes) continue;
    sent = 0;
    left = service_.options.write_deadline;
  }
}

asio::awaitable<WireResponse> Session::make_answer(std::optional<Response>& response,
                                                   const WireOptions& options) {
  Request& request = parser_.request();
  if (!response) response = service_.check_host(request);
  WireResponse wire;
  if (WorkerPool* const pool = response ? nullptr : service_.pool_for(request)) {
    const bool is_taken = co_await run_on(*pool, [&] {
      response = service_.handle_request(request);
      wire = service_.finish(request, *response, options);
    });
    if (is_taken) co_return wire;
    response = service_.busy_response();
  }
  if (!response) response = service_.handle_request(request);
  co_return service_.finish(request, *response, options);
}

asio::awaitable<bool> Session::answer() {
  const Clock::time_point begin = Clock::now();
  entry_.enter(Phase::handling);
  Request& request = parser_.request();
  request.peer = peer_;
  std::optional<Response> response = std::exchange(refusal_, std::nullopt);
  WireOptions options{.is_http_1_0 = parser_.is_http_1_0(), .is_tls = stream_.is_tls()};
  options.keep_alive = !response && parser_.keep_alive() && !service_.is_stopping;
  const WireResponse wire = co_await make_answer(response, options);
  const bool is_event_stream = response->events != nullptr;
  if (is_event_stream || wire.ends_with_connection) options.keep_alive = false;
  service_.count_latency(Clock::now() - begin);
  if (!co_await write(wire)) co_return false;
  if (is_event_stream && response->events != nullptr && request.method != "HEAD") {
    // Events are published on other threads; the strand keeps their wake-ups out of the writes.
    const auto executor = co_await asio::this_coro::executor;
    const std::uint64_t last_id = first_event_id(request, *response);
    co_await asio::co_spawn(asio::make_strand(executor),
                            stream_events(service_, stream_, entry_, *response->events, last_id),
                            asio::use_awaitable);
  }
  co_return options.keep_alive;
}

// Without it, closing with unread bytes would reset the connection, and the client might lose the
// answer that tells it what was wrong.
asio::awaitable<void> Session::say_goodbye() {
  entry_.enter(Phase::closing, Clock::now() + kGoodbyeDeadline);
  ErrorCode ec;
  if (stream_.is_tls()) {
    co_await stream_.shutdown_tls(ec);
    co_return;
  }
  stream_.socket().shutdown(Socket::shutdown_send, ec);
  std::size_t thrown_away = 0;
  while (!ec && thrown_away < kGoodbyeBytesMax && !entry_.is_overdue()) {
    buffer_.clear();
    thrown_away += co_await stream_.read_some(buffer_.prepare(kReadBodyBytes), ec);
  }
}

void Session::forget_message() {
  parser_.reset();
  is_reading_body_ = false;
  if (buffer_.size() == 0 && buffer_.capacity() > 4 * kReadBytes) buffer_.shrink_to_fit();
}

asio::awaitable<void> Session::run() {
  if (stream_.is_tls()) {
    entry_.enter(Phase::reading, Clock::now() + service_.options.read_deadline);
    ErrorCode ec;
    co_await stream_.handshake(ec);
    if (ec) co_return;
  }
  while (!service_.is_stopping) {
    if (co_await read_message() == Outcome::closed) co_return;
    if (!co_await answer()) break;
    forget_message();
  }
  if (!is_broken_off_) co_await say_goodbye();
}

}  // namespace

asio::awaitable<void> run_session(Service& service, Socket socket, asio::ssl::context* tls) {
  Session session(service, std::move(socket), tls);
  co_await session.run();
}

}  // namespace llmb::http
