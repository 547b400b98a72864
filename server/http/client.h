// Client: one HTTP/1.1 request at a time to another llmb-report, over TLS whose certificate is
// verified, with a deadline for the whole of it. Each request has a connection of its own. Follows
// no redirection, knows no proxy and no domain type.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "parser/result.h"

namespace llmb::http {

struct Url {
  bool is_tls = true;
  std::string host;
  std::uint16_t port = 443;
  std::string path;  // in front of every target; empty, or "/reports"
};

// "https://reports.example", "http://127.0.0.1:8642/reports". Plain http is for the loopback only:
// a token must not travel where others can read it.
parser::Result<Url> parse_url(const std::string& text);

struct ClientOptions {
  Url url;
  std::string ca_file;  // PEM; empty: those that the system trusts
  std::chrono::milliseconds deadline{60'000};
  std::size_t body_bytes_max = std::size_t{8} << 20U;
};

// Whether a Client can use the file: PEM, with certificates in it.
parser::Result<void> check_ca_file(const std::string& file);

struct ClientRequest {
  std::string method = "GET";
  std::string target;  // path and query, encoded
  std::vector<std::pair<std::string, std::string>> headers = {};
  std::string body = {};
};

struct ClientResponse {
  int status = 0;
  std::string retry_after;  // as it was sent; empty: none
  std::string body;
};

// Not thread-safe, but for `stop`.
class Client {
 public:
  explicit Client(ClientOptions options) : options_(std::move(options)) {}

  // The answer, whatever its status. Error: there was none, and why. Ends within a fifth of a
  // second once `stop` is set, but for the system's look-up of a name, which nothing can break off.
  parser::Result<ClientResponse> send(const ClientRequest& request,
                                      const std::atomic<bool>& stop) const;

 private:
  ClientOptions options_;
};

}  // namespace llmb::http
