// MessageParser: from a connection's bytes to a checked Request, one message at a time. Refuses
// whatever two servers could frame differently (request smuggling). Not thread-safe.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "server/http/message.h"

namespace llmb::http {

class MessageParser {
 public:
  enum class Status {
    need_more,  // feed what was not consumed again, with more behind it
    header,     // the header is whole and a body follows: set_body_bytes_max(), then go on
    complete,
    refused,  // problem() says why; the connection must be closed after it
  };

  explicit MessageParser(std::size_t header_bytes_max);
  ~MessageParser();
  MessageParser(const MessageParser&) = delete;
  MessageParser& operator=(const MessageParser&) = delete;

  // Forgets the last message and its memory.
  void reset();
  // Bytes consumed are never needed again; the others must be given again.
  Status feed(std::string_view bytes, std::size_t& consumed);

  // From Status::header on.
  Request& request();
  bool keep_alive() const;
  bool is_http_1_0() const;
  bool expects_continue() const;
  // refused, where the announced length is over it already; need_more otherwise.
  Status set_body_bytes_max(std::size_t body_bytes_max);

  Response problem() const;  // after Status::refused

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
  std::size_t header_bytes_max_;
};

}  // namespace llmb::http
