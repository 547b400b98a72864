// Listening, accepting, and the threads; what happens on a connection is session.cpp's.
#include "server/http/server.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <exception>
#include <new>
#include <stdexcept>
#include <string_view>
#include <thread>

#include "server/http/session.h"
#include "server/http/tls_context.h"

namespace llmb::http {
namespace {

using asio::ip::tcp;
using namespace std::chrono_literals;

constexpr std::chrono::milliseconds kAcceptPause = 50ms;
constexpr std::chrono::milliseconds kStopDeadline = 1500ms;

std::string too_many_connections() {
  const Response refusal =
      problem(503, "Service unavailable", "too many connections are open; try again soon");
  return fmt::format(
      "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 5\r\n"
      "Content-Type: application/problem+json\r\nContent-Length: {}\r\n\r\n{}",
      refusal.body->size(), *refusal.body);
}

std::string place_of(const ServerOptions& options) {
  const bool is_ipv6 = options.address.find(':') != std::string::npos;
  return is_ipv6 ? fmt::format("[{}]:{}", options.address, options.port)
                 : fmt::format("{}:{}", options.address, options.port);
}

asio::ip::address checked_address(const ServerOptions& options) {
  ErrorCode ec;
  auto address =
      asio::ip::make_address(options.address == "localhost" ? "127.0.0.1" : options.address, ec);
  if (ec) {
    throw std::runtime_error(fmt::format(
        "cannot listen on \"{}\": it is not a numeric address such as 127.0.0.1, 0.0.0.0 or ::1",
        options.address));
  }
  if (options.tls_certificate_file.empty() != options.tls_key_file.empty()) {
    throw std::runtime_error("TLS needs both a certificate file and a key file; only one is given");
  }
  if (!address.is_loopback() && options.tls_key_file.empty() && !options.behind_proxy) {
    throw std::runtime_error(fmt::format(
        "will not listen on {} without protection: others could read along. Give a TLS certificate "
        "and key, or say behind-proxy where a proxy in front does TLS, or listen on 127.0.0.1",
        place_of(options)));
  }
  return address;
}

// How many connections there may be beside the descriptors that the rest of the process needs.
// Raises the process's limit first: distributions begin at 1,024, for programs that use select().
std::size_t connections_allowed(const ServerOptions& options) {
  const rlim_t wanted = options.connections_max + options.descriptors_reserved;
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return options.connections_max;
  if (limit.rlim_cur < wanted) {
    rlimit raised = limit;
    raised.rlim_cur = std::min(wanted, limit.rlim_max);
    if (setrlimit(RLIMIT_NOFILE, &raised) == 0) limit = raised;
  }
  if (limit.rlim_cur >= wanted) return options.connections_max;
  const rlim_t reserved = std::min<rlim_t>(options.descriptors_reserved, limit.rlim_cur / 2);
  const std::size_t allowed =
      std::min<std::size_t>(options.connections_max, limit.rlim_cur - reserved);
  spdlog::info(
      "the process may open {} files: {} are kept for logs and the database, so that {} "
      "connections "
      "at once are served, not {}; `ulimit -n` allows more",
      limit.rlim_cur, reserved, allowed, options.connections_max);
  return allowed;
}

}  // namespace

struct Server::Impl {
  Impl(const ServerOptions& options, const Router& router)
      : service(options, router), io(std::max(1, options.threads)), acceptor(io), ticker(io) {}

  void listen();
  asio::awaitable<void> accept_connections();
  asio::awaitable<void> sweep_deadlines();
  void admit(Socket socket);
  void serve();
  void run_threads();
  void stop();

  Service service;  // outlives io, whose destruction ends the coroutines that are left
  std::unique_ptr<asio::ssl::context> tls;
  asio::io_context io;
  tcp::acceptor acceptor;
  asio::steady_timer ticker;
  const std::string refusal = too_many_connections();
  std::vector<std::thread> threads;
  std::uint16_t port = 0;
};

void Server::Impl::listen() {
  const ServerOptions& options = service.options;
  const tcp::endpoint endpoint(checked_address(options), options.port);
  if (!options.tls_key_file.empty()) {
    tls = make_tls_context(options.tls_certificate_file, options.tls_key_file);
  }
  try {
    acceptor.open(endpoint.protocol());
    acceptor.set_option(asio::socket_base::reuse_address(true));
    acceptor.bind(endpoint);
    acceptor.listen(4096);
  } catch (const boost::system::system_error& error) {
    ErrorCode ignored;
    acceptor.close(ignored);
    std::string advice;
    if (error.code() == asio::error::address_in_use) {
      advice =
          ". Another program listens there, perhaps another llmb-report: stop it, or choose "
          "another port";
    } else if (error.code() == asio::error::access_denied) {
      advice = ". Ports below 1024 need a privilege: choose one above";
    } else {
      advice = ". Is it an address of this machine?";
    }
    throw std::runtime_error(fmt::format("cannot listen on {}: {}{}", place_of(options),
                                         error.code().message(), advice));
  }
  port = acceptor.local_endpoint().port();
}

void Server::Impl::admit(Socket socket) {
  if (service.connections.size() >= service.connections_max) {
    ++service.connections_refused;
    if (!tls) {
      // As much as fits at once: a connection too many gets no coroutine and no wait.
      [[maybe_unused]] const ssize_t sent = ::send(socket.native_handle(), refusal.data(),
                                                   refusal.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    }
    return;
  }
  ErrorCode ignored;
  socket.set_option(tcp::no_delay(true), ignored);
  asio::co_spawn(io, run_session(service, std::move(socket), tls.get()),
                 [](const std::exception_ptr& exception) {
                   if (!exception) return;
                   try {
                     std::rethrow_exception(exception);
                   } catch (const std::exception& error) {
                     spdlog::error("a connection ended: {}", error.what());
                   }
                 });
}

asio::awaitable<void> Server::Impl::accept_connections() {
  asio::steady_timer pause(io);
  bool is_short = false;
  while (!service.is_stopping) {
    ErrorCode ec;
    try {
      Socket socket =
          co_await acceptor.async_accept(io, asio::redirect_error(asio::use_awaitable, ec));
      if (service.is_stopping) co_return;
      if (!ec) {
        admit(std::move(socket));
        is_short = false;
        continue;
      }
    } catch (const std::bad_alloc&) {
      ec = asio::error::no_memory;
    }
    if (ec == asio::error::connection_aborted) continue;
    // No descriptors or no memory: the connection waits in the kernel's queue, and trying at once
    // again would only burn a core.
    ++service.accept_pauses;
    if (!is_short) spdlog::warn("cannot accept connections just now: {}", ec.message());
    is_short = true;
    pause.expires_after(kAcceptPause);
    co_await pause.async_wait(asio::redirect_error(asio::use_awaitable, ec));
  }
}

asio::awaitable<void> Server::Impl::sweep_deadlines() {
  const ServerOptions& options = service.options;
  const auto shortest =
      std::min({options.read_deadline, options.write_deadline, options.idle_deadline});
  const std::chrono::milliseconds tick = std::clamp(shortest / 8, 10ms, 250ms);
  while (!service.is_stopping) {
    service.connections.sweep(ConnectionTable::Clock::now());
    ticker.expires_after(tick);
    ErrorCode ignored;
    co_await ticker.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  }
}

// What one connection throws past its own handlers (there may be no memory left to log it) must not
// end the others.
void Server::Impl::serve() {
  while (!io.stopped()) {
    try {
      io.run();
    } catch (const std::exception& error) {
      spdlog::error("a thread that serves connections goes on after: {}", error.what());
    }
  }
}

void Server::Impl::run_threads() {
  asio::co_spawn(io, accept_connections(), asio::detached);
  asio::co_spawn(io, sweep_deadlines(), asio::detached);
  for (int i = 0; i < std::max(1, service.options.threads); ++i) {
    threads.emplace_back([this] { serve(); });
  }
}

void Server::Impl::stop() {
  if (threads.empty()) return;
  service.is_stopping = true;
  // The acceptor is used by a coroutine: only shutdown(2) may be called beside it.
  ::shutdown(acceptor.native_handle(), SHUT_RDWR);
  const auto deadline = std::chrono::steady_clock::now() + kStopDeadline;
  while (service.connections.size() > 0 && std::chrono::steady_clock::now() < deadline) {
    service.connections.stop_waiting();
    std::this_thread::sleep_for(5ms);
  }
  service.connections.cut_all();
  io.stop();
  for (std::thread& thread : threads) thread.join();
  threads.clear();
  service.stop_pools();
  ErrorCode ignored;
  acceptor.close(ignored);
}

Server::Server(const ServerOptions& options, const Router& router)
    : impl_(std::make_unique<Impl>(options, router)) {}

Server::~Server() {
  stop();
}

void Server::start() {
  if (!impl_->threads.empty()) return;
  impl_->service.connections_max = connections_allowed(impl_->service.options);
  impl_->listen();
  impl_->run_threads();
}

void Server::stop() {
  impl_->stop();
}

void Server::run_in_background(BackgroundTask task) {
  Service& service = impl_->service;
  service.compute([&service, task = std::move(task)] {
    task([&service] { return service.is_stopping.load(); });
  });
}

std::uint16_t Server::port() const {
  return impl_->port;
}

ServerCounters Server::counters() const {
  return impl_->service.counters();
}

}  // namespace llmb::http
