// Stream: a connection's socket, plain or under TLS, with one set of operations. The one header
// with Asio in it; only the files that move bytes include it.
#pragma once

#include <array>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <memory>
#include <utility>

namespace llmb::http {

namespace asio = boost::asio;
using ErrorCode = boost::system::error_code;
using Socket = asio::ip::tcp::socket;

class Stream {
  using Tls = asio::ssl::stream<Socket&>;
  // Errors are looked at, not thrown: most connections end with one.
  static auto redirect(ErrorCode& ec) { return asio::redirect_error(asio::use_awaitable, ec); }

 public:
  using Buffers = std::array<asio::const_buffer, 2>;

  // `tls` is null for a plain connection, and must outlive the stream.
  Stream(Socket socket, asio::ssl::context* tls) : socket_(std::move(socket)) {
    if (tls != nullptr) tls_ = std::make_unique<Tls>(socket_, *tls);
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  bool is_tls() const { return tls_ != nullptr; }
  Socket& socket() { return socket_; }

  asio::awaitable<void> handshake(ErrorCode& ec) {
    return tls_->async_handshake(Tls::server, redirect(ec));
  }
  asio::awaitable<std::size_t> read_some(asio::mutable_buffer into, ErrorCode& ec) {
    if (tls_) return tls_->async_read_some(into, redirect(ec));
    return socket_.async_read_some(into, redirect(ec));
  }
  // All of `buffers`.
  asio::awaitable<std::size_t> write(const Buffers& buffers, ErrorCode& ec) {
    if (tls_) return asio::async_write(*tls_, buffers, redirect(ec));
    return asio::async_write(socket_, buffers, redirect(ec));
  }
  // Says goodbye to a TLS client, and waits for its answer.
  asio::awaitable<void> shutdown_tls(ErrorCode& ec) { return tls_->async_shutdown(redirect(ec)); }

 private:
  Socket socket_;
  std::unique_ptr<Tls> tls_;
};

}  // namespace llmb::http
