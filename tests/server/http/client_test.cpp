// The client against the real server, over sockets of the loopback.
#include "server/http/client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/server/http/certificate.h"
#include "tests/server/http/test_server.h"

namespace llmb::http {
namespace {

using testing::HasSubstr;

const std::atomic<bool> kNeverStops = false;

ServerOptions tls_server_options(const Certificate& certificate) {
  ServerOptions options = test_options();
  options.tls_certificate_file = certificate.certificate_file();
  options.tls_key_file = certificate.key_file();
  return options;
}

Client client_of(const std::string& url, const std::string& ca_file = "") {
  return Client(
      {.url = *parse_url(url), .ca_file = ca_file, .deadline = std::chrono::milliseconds(20'000)});
}

std::string url(const char* scheme_and_host, std::uint16_t port) {
  return std::string(scheme_and_host) + ":" + std::to_string(port);
}

TEST(Client, SendsARequestAndReadsItsAnswer) {
  const TestServer server;
  const Client client = client_of(url("http://127.0.0.1", server.port()));
  const auto answer = client.send(
      {.method = "POST", .target = "/echo", .headers = {}, .body = "[1, 2]"}, kNeverStops);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(answer->body, "[1, 2]");
  EXPECT_EQ(client.send({.target = "/nowhere"}, kNeverStops)->status, 404);
}

TEST(Client, TalksTlsToWhomItTrusts) {
  const Certificate certificate;
  const TestServer server(tls_server_options(certificate));
  const auto answer =
      client_of(url("https://localhost", server.port()), certificate.certificate_file())
          .send({.target = "/json"}, kNeverStops);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->body, R"({"a":1})");
}

TEST(Client, SendsNothingToWhomItDoesNotTrust) {
  const Certificate certificate;
  const Certificate other;
  const TestServer server(tls_server_options(certificate));
  for (const auto& [host, ca_file] : std::vector<std::pair<const char*, std::string>>{
           {"https://localhost", other.certificate_file()},  // another certificate of that name
           {"https://localhost", ""},
           {"https://127.0.0.1", certificate.certificate_file()}}) {  // not the name it is for
    const auto answer =
        client_of(url(host, server.port()), ca_file).send({.target = "/json"}, kNeverStops);
    ASSERT_FALSE(answer) << host << " " << ca_file;
    EXPECT_THAT(answer.error().message, HasSubstr("certificate verify failed"));
  }
  EXPECT_EQ(server.handled, 0);
  const auto answer = client_of(url("https://localhost", server.port()), "/nonexistent.pem")
                          .send({.target = "/json"}, kNeverStops);
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message, HasSubstr("/nonexistent.pem"));
}

TEST(Client, SaysWhyThereIsNoAnswer) {
  std::uint16_t port = 0;
  {
    const TestServer server;
    port = server.port();
  }
  const auto answer = client_of(url("http://127.0.0.1", port)).send({.target = "/"}, kNeverStops);
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message, HasSubstr("refused"));
}

TEST(Client, EndsWhenItIsToldTo) {
  const TestServer server(test_options(), [](Router& router) {
    router.add("GET", "/never", [](const Request&) {
      std::this_thread::sleep_for(std::chrono::seconds(2));
      return json_response("{}");
    });
  });
  const std::atomic<bool> stop = true;
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_FALSE(client_of(url("http://127.0.0.1", server.port())).send({.target = "/never"}, stop));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(2));
}

TEST(Client, RefusesAddressesThatItCannotProtect) {
  EXPECT_EQ(parse_url("https://reports.example/llmb/")->path, "/llmb");
  EXPECT_EQ(parse_url("https://[::1]:8443")->port, 8443);
  EXPECT_EQ(parse_url("https://[::1]:8443")->host, "::1");
  EXPECT_FALSE(parse_url("http://localhost:8642")->is_tls);
  for (const char* text :
       {"", "reports.example", "http://reports.example", "https://", "https://a:0", "https://a:b",
        "https://user@host", "ftp://a", "https://a/?x=1", "https://[::1"}) {
    EXPECT_FALSE(parse_url(text)) << text;
  }
}

}  // namespace
}  // namespace llmb::http
