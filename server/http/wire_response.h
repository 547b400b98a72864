// From a handler's Response to the bytes that go out: conditional requests, compression, and the
// headers that every response carries. Knows no socket.
#pragma once

#include <memory>
#include <string>

#include "server/http/body_cache.h"
#include "server/http/held_bodies.h"
#include "server/http/message.h"
#include "server/http/packed_body.h"
#include "server/http/streamed_body.h"

namespace llmb::http {

struct WireResponse {
  int status = 200;
  std::string head;  // status line and headers, with the empty line
  // One of them, or none (304, HEAD, an event stream).
  std::shared_ptr<const std::string> body;
  std::shared_ptr<const PackedBody> packed_body;
  std::shared_ptr<StreamedBody> streamed_body;
  bool ends_with_connection = false;  // nothing else says where the body ends

  // For the block that is unpacked while the body is sent, or the place of a streamed body.
  std::shared_ptr<HeldBodies::Room> room;

  BodyBlocks blocks() const { return {body.get(), packed_body.get()}; }
};

struct WireOptions {
  bool keep_alive = true;
  bool is_http_1_0 = false;
  bool is_tls = false;  // sends Strict-Transport-Security
};

// May call response.make_body or write_body, and throws what that throws; throws RequestError (503)
// where there is no room for the body. The headers of a made body become the response's.
WireResponse make_wire_response(const Request& request, Response& response,
                                const WireOptions& options, BodyCache& cache,
                                const HeldBodies& held_bodies);

}  // namespace llmb::http
