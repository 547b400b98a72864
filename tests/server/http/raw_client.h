// RawClient: a socket that says exactly what a test tells it to, and waits a bounded time.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "tests/patience.h"

namespace llmb::http {

struct RawResponse {
  int status = 0;                              // 0: the connection ended, or nothing came in time
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;
  std::string head;
};

class RawClient {
 public:
  // Connects to 127.0.0.1. Throws std::runtime_error where that fails. `receive_bytes` bounds the
  // kernel's buffer, so that a client which does not read is soon full.
  explicit RawClient(std::uint16_t port, int receive_bytes = 0);
  ~RawClient();
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  // False where the server has closed already.
  bool send(std::string_view bytes);
  // True once something of an answer is there, of which nothing is read.
  bool is_answered() const;
  // The next response. `is_head`: no body follows, whatever Content-Length says.
  RawResponse read_response(bool is_head = false);
  RawResponse request(std::string_view bytes);
  // Everything up to and with `mark`, or what came before the end or the time ran out.
  std::string read_until(std::string_view mark);
  // True where the server closes (or resets, which `was_reset` tells) within `patience`; what it
  // sent goes to `rest`.
  bool is_closed_within(std::chrono::milliseconds patience = kTestPatience,
                        std::string* rest = nullptr, bool* was_reset = nullptr);
  void shutdown_sending();

 private:
  // False at the end of the stream, on an error, or when `until` passes.
  bool receive(std::chrono::steady_clock::time_point until, bool* is_closed = nullptr);

  int descriptor_ = -1;
  bool was_reset_ = false;
  std::string pending_;
};

// "GET <target> HTTP/1.1", with Host and `extra` headers (each with its CRLF).
std::string get(std::string_view target, std::string_view extra = "");

// Polls until `condition` holds, for at most `patience`.
bool eventually(const std::function<bool()>& condition,
                std::chrono::milliseconds patience = kTestPatience);

}  // namespace llmb::http
