#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <arpa/inet.h>

#include <fstream>

#include "tests/patience.h"
#include "tests/server/http/certificate.h"
#include "tests/server/http/test_server.h"

namespace llmb::http {
namespace {

using testing::HasSubstr;

ServerOptions tls_options(const Certificate& certificate) {
  ServerOptions options = test_options();
  options.tls_certificate_file = certificate.certificate_file();
  options.tls_key_file = certificate.key_file();
  return options;
}

class TlsClient {
 public:
  TlsClient(std::uint16_t port, int version_max) : context_(SSL_CTX_new(TLS_client_method())) {
    SSL_CTX_set_max_proto_version(context_, version_max);
    descriptor_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const timeval patience = {.tv_sec = kTestPatience.count(), .tv_usec = 0};
    setsockopt(descriptor_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int connected =
        ::connect(descriptor_, reinterpret_cast<sockaddr*>(&address), sizeof address);
    ssl_ = SSL_new(context_);
    SSL_set_fd(ssl_, descriptor_);
    is_open_ = connected == 0 && SSL_connect(ssl_) == 1;
  }
  ~TlsClient() {
    SSL_free(ssl_);
    SSL_CTX_free(context_);
    ::close(descriptor_);
  }
  TlsClient(const TlsClient&) = delete;
  TlsClient& operator=(const TlsClient&) = delete;

  bool is_open() const { return is_open_; }
  std::string version() const { return SSL_get_version(ssl_); }

  std::string request_until(const std::string& message, std::string_view mark) {
    SSL_write(ssl_, message.data(), static_cast<int>(message.size()));
    std::string text;
    std::array<char, 16384> buffer;
    while (text.find(mark) == std::string::npos) {
      const int size = SSL_read(ssl_, buffer.data(), static_cast<int>(buffer.size()));
      if (size <= 0) break;
      text.append(buffer.data(), static_cast<std::size_t>(size));
    }
    return text;
  }

 private:
  SSL_CTX* context_;
  SSL* ssl_ = nullptr;
  int descriptor_ = -1;
  bool is_open_ = false;
};

TEST(Tls, ServesBothVersionsWithStrictTransportSecurity) {
  const Certificate certificate;
  const TestServer server(tls_options(certificate));
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    TlsClient client(server.port(), version);
    ASSERT_TRUE(client.is_open());
    EXPECT_EQ(client.version(), version == TLS1_2_VERSION ? "TLSv1.2" : "TLSv1.3");
    for (int i = 0; i < 2; ++i) {
      const std::string answer = client.request_until(get("/json"), R"({"a":1})");
      EXPECT_THAT(answer, HasSubstr("HTTP/1.1 200 OK"));
      EXPECT_THAT(answer, HasSubstr("Strict-Transport-Security: max-age="));
      EXPECT_THAT(answer, HasSubstr(R"({"a":1})"));
    }
  }
}

TEST(Tls, CarriesLargeBodiesAndEvents) {
  const Certificate certificate;
  TestServer server(tls_options(certificate));
  TlsClient client(server.port(), TLS1_3_VERSION);
  EXPECT_THAT(client.request_until(get("/large"), "4999]"), HasSubstr(TestServer::large_body()));
  EXPECT_THAT(client.request_until(get("/events", "Last-Event-ID: 100\r\n"), "id: 100\n\n"),
              HasSubstr("text/event-stream"));
  server.channel.publish("run", "x");
  EXPECT_THAT(client.request_until("", "data: x\n\n"), HasSubstr("id: 101"));
  server.server.stop();
}

TEST(Tls, RefusesOlderVersions) {
  const Certificate certificate;
  const TestServer server(tls_options(certificate));
  EXPECT_FALSE(TlsClient(server.port(), TLS1_1_VERSION).is_open());
}

TEST(Tls, ClosesWhereAClientSpeaksNone) {
  const Certificate certificate;
  const TestServer server(tls_options(certificate));
  RawClient client(server.port());
  client.send(get("/json"));
  EXPECT_TRUE(client.is_closed_within());
}

std::string start_error(const ServerOptions& options) {
  const Router router;
  try {
    Server(options, router).start();
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return {};
}

TEST(Tls, SaysWhichFileIsWrong) {
  const Certificate certificate;
  const Certificate other;
  ServerOptions options = tls_options(certificate);
  options.tls_certificate_file = "/nonexistent/certificate.pem";
  EXPECT_THAT(start_error(options), HasSubstr("/nonexistent/certificate.pem"));
  options = tls_options(certificate);
  options.tls_key_file = other.key_file();
  EXPECT_THAT(start_error(options), HasSubstr(other.key_file()));
  std::ofstream(other.key_file()) << "no key";
  EXPECT_THAT(start_error(options), HasSubstr(other.key_file()));
  options.tls_key_file.clear();
  EXPECT_THAT(start_error(options), HasSubstr("both"));
}

TEST(Tls, AllowsAnOpenAddress) {
  const Certificate certificate;
  ServerOptions options = tls_options(certificate);
  options.address = "0.0.0.0";
  // Bound to every address, and reached over the loopback only.
  const TestServer server(options);
  TlsClient client(server.port(), TLS1_3_VERSION);
  EXPECT_THAT(client.request_until(get("/json"), R"({"a":1})"), HasSubstr("200 OK"));
}

}  // namespace
}  // namespace llmb::http
