#include "server/http/client.h"

#include <fmt/format.h>
#include <openssl/ssl.h>
#include <unistd.h>

#include <array>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <boost/beast/version.hpp>
#include <cerrno>
#include <cstring>
#include <exception>
#include <memory>

#include "parser/foundation/parse_number.h"
#include "server/http/target.h"

namespace llmb::http {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace ssl = boost::asio::ssl;
using asio::use_awaitable;

constexpr std::chrono::milliseconds kBetweenLooksAtStop{100};
// Where distributions keep what they trust; a static program has no folder of its own.
constexpr std::array kCaFiles = {"/etc/ssl/certs/ca-certificates.crt",
                                 "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
                                 "/etc/ssl/cert.pem"};

parser::Result<void> trust_file(ssl::context& context, const std::string& file) {
  boost::system::error_code error;
  context.load_verify_file(file, error);
  if (!error) return {};
  return parser::fail(
      fmt::format("cannot use the certificates in {} (a PEM file): {}", file,
                  access(file.c_str(), R_OK) == 0 ? error.message() : std::strerror(errno)));
}

void trust(ssl::context& context, const std::string& ca_file) {
  context.set_verify_mode(ssl::verify_peer);
  SSL_CTX_set_min_proto_version(context.native_handle(), TLS1_2_VERSION);
  if (!ca_file.empty()) {
    if (auto used = trust_file(context, ca_file); !used) {
      throw std::runtime_error(used.error().message);
    }
    return;
  }
  boost::system::error_code error;
  context.set_default_verify_paths(error);  // $SSL_CERT_FILE and $SSL_CERT_DIR count
  for (const char* file : kCaFiles) {
    if (access(file, R_OK) == 0) context.load_verify_file(file, error);
  }
}

using BeastRequest = beast::http::request<beast::http::string_body>;
using BeastParser = beast::http::response_parser<beast::http::string_body>;

BeastRequest beast_request(const Url& url, const ClientRequest& request) {
  BeastRequest message;
  message.method_string(request.method);
  message.target(url.path + request.target);
  message.version(11);
  const bool is_ipv6 = url.host.find(':') != std::string::npos;
  const std::string host = is_ipv6 ? "[" + url.host + "]" : url.host;
  const bool is_usual = url.port == (url.is_tls ? 443 : 80);
  message.set(beast::http::field::host, is_usual ? host : fmt::format("{}:{}", host, url.port));
  for (const auto& [name, value] : request.headers) message.set(name, value);
  message.keep_alive(false);
  message.body() = request.body;
  message.prepare_payload();
  return message;
}

template <typename Stream>
asio::awaitable<void> exchange(Stream& stream, BeastRequest& request, BeastParser& parser) {
  co_await beast::http::async_write(stream, request, use_awaitable);
  beast::flat_buffer buffer;
  co_await beast::http::async_read(stream, buffer, parser, use_awaitable);
}

asio::awaitable<void> converse(const ClientOptions& options, beast::tcp_stream& socket,
                               BeastRequest& request, BeastParser& parser) {
  socket.expires_after(options.deadline);
  const Url& url = options.url;
  asio::ip::tcp::resolver resolver(co_await asio::this_coro::executor);
  const auto places =
      co_await resolver.async_resolve(url.host, std::to_string(url.port), use_awaitable);
  co_await socket.async_connect(places, use_awaitable);
  if (!url.is_tls) {
    co_await exchange(socket, request, parser);
    co_return;
  }
  ssl::context context(ssl::context::tls_client);
  trust(context, options.ca_file);
  ssl::stream<beast::tcp_stream&> stream(socket, context);
  stream.set_verify_callback(ssl::host_name_verification(url.host));
  // SSL_set_tlsext_host_name() without its cast, which is C's; OpenSSL only reads the name.
  SSL_ctrl(stream.native_handle(), SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
           const_cast<char*>(url.host.c_str()));
  co_await stream.async_handshake(ssl::stream_base::client, use_awaitable);
  co_await exchange(stream, request, parser);
}

}  // namespace

parser::Result<void> check_ca_file(const std::string& file) {
  ssl::context context(ssl::context::tls_client);
  return trust_file(context, file);
}

parser::Result<Url> parse_url(const std::string& text) {
  // Not repeated where a password may stand in it.
  if (const std::size_t at = text.find('@'); at < text.find('/', text.find("://") + 3)) {
    return parser::fail("the address of a server has no user or password before its host");
  }
  const auto refuse = [&](const char* why) {
    const std::string shown = text.find('@') == std::string::npos ? "\"" + text + "\"" : "this";
    return parser::fail(fmt::format("{} is no address of a server: {}", shown, why));
  };
  Url url;
  std::string_view rest = text;
  if (rest.starts_with("https://")) {
    rest.remove_prefix(8);
  } else if (rest.starts_with("http://")) {
    rest.remove_prefix(7);
    url.is_tls = false;
    url.port = 80;
  } else {
    return refuse("it has to begin with https://");
  }
  std::string_view place = rest.substr(0, rest.find('/'));
  url.path = rest.substr(place.size());
  while (!url.path.empty() && url.path.back() == '/') url.path.pop_back();
  if (url.path.find_first_of("?# \r\n") != std::string::npos)
    return refuse("a path is allowed, no query");
  std::string_view port;
  if (place.starts_with('[')) {
    const std::size_t end = place.find(']');
    if (end == std::string_view::npos) return refuse("the host's ']' is missing");
    url.host = place.substr(1, end - 1);
    port = place.substr(end + 1);
  } else {
    url.host = place.substr(0, place.find(':'));
    port = place.substr(url.host.size());
  }
  if (url.host.empty() || url.host.find_first_of("@ \r\n") != std::string::npos) {
    return refuse("it has to name a host");
  }
  if (!port.empty()) {
    const auto number =
        port.front() == ':' ? parser::parse_integer(port.substr(1)) : std::optional<std::int64_t>();
    if (!number || *number < 1 || *number > 65'535) return refuse("a port is from 1 to 65535");
    url.port = static_cast<std::uint16_t>(*number);
  }
  if (!url.is_tls && !is_loopback_name(url.host)) {
    return refuse("http:// is for this machine only, because others could read the token");
  }
  return url;
}

parser::Result<ClientResponse> Client::send(const ClientRequest& request,
                                            const std::atomic<bool>& stop) const {
  asio::io_context context(1);
  beast::tcp_stream socket(context);
  BeastRequest message = beast_request(options_.url, request);
  BeastParser parser;
  parser.body_limit(options_.body_bytes_max);
  std::exception_ptr error;
  bool is_done = false;
  asio::co_spawn(context, converse(options_, socket, message, parser),
                 [&](const std::exception_ptr& thrown) {
                   error = thrown;
                   is_done = true;
                 });
  const auto deadline = std::chrono::steady_clock::now() + options_.deadline;
  while (!is_done && !stop && std::chrono::steady_clock::now() < deadline) {
    context.run_for(kBetweenLooksAtStop);
  }
  const std::string place = fmt::format("{}:{}", options_.url.host, options_.url.port);
  if (!is_done) {
    return parser::fail(fmt::format(
        "{} {}", place, stop ? "was not heard to the end: stopping" : "did not answer in time"));
  }
  try {
    if (error) std::rethrow_exception(error);
  } catch (const boost::system::system_error& thrown) {  // its what() names Asio's own files, too
    return parser::fail(fmt::format("cannot ask {}: {}", place, thrown.code().message()));
  } catch (const std::exception& thrown) {
    return parser::fail(fmt::format("cannot ask {}: {}", place, thrown.what()));
  }
  const auto& answer = parser.get();
  ClientResponse response;
  response.status = static_cast<int>(answer.result_int());
  response.retry_after = answer[beast::http::field::retry_after];
  response.body = answer.body();
  return response;
}

}  // namespace llmb::http
