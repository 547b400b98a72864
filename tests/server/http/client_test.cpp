// The client against the real server, over sockets of the loopback.
#include "server/http/client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>

#include "tests/patience.h"
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
  return Client({.url = *parse_url(url), .ca_file = ca_file, .deadline = kTestPatience});
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
  std::promise<void> asked;
  std::promise<void> answered;
  const TestServer server(test_options(), [&](Router& router) {
    router.add("GET", "/late", [&](const Request&) {
      asked.set_value();
      answered.get_future().wait();
      return json_response("{}");
    });
  });
  std::atomic<bool> stop = false;
  std::thread stopper([&] {
    asked.get_future().wait();
    stop = true;
  });
  const auto answer =
      client_of(url("http://127.0.0.1", server.port())).send({.target = "/late"}, stop);
  answered.set_value();
  stopper.join();
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message, HasSubstr("stopping"));
}

TEST(Client, RefusesAddressesThatItCannotProtect) {
  EXPECT_EQ(parse_url("https://reports.example/llmb/")->path, "/llmb");
  EXPECT_EQ(parse_url("https://[::1]:8443")->port, 8443);
  EXPECT_EQ(parse_url("https://[::1]:8443")->host, "::1");
  EXPECT_FALSE(parse_url("http://localhost:8642")->is_tls);
  for (const char* text : {"", "reports.example", "http://reports.example",
                           "http://127.reports.example", "https://", "https://a:0", "https://a:b",
                           "https://user@host", "ftp://a", "https://a/?x=1", "https://[::1"}) {
    EXPECT_FALSE(parse_url(text)) << text;
  }
  const auto refused = parse_url("https://user:geheim@reports.example:8443/llmb");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("no user or password"));
  EXPECT_THAT(refused.error().message, testing::Not(HasSubstr("geheim")));
  EXPECT_THAT(parse_url("https://user:ge/heim@reports.example").error().message,
              testing::Not(HasSubstr("heim")));
  EXPECT_EQ(parse_url("https://reports.example/a@b")->path, "/a@b");
}

}  // namespace
}  // namespace llmb::http
