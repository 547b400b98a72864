// Session: one connection from its first byte to its last: reads a message, asks the Service,
// writes the answer, and again.
#pragma once

#include "server/http/service.h"
#include "server/http/stream.h"

namespace llmb::http {

// Ends when the client leaves, a deadline passes, or the service stops. `service` and `tls` (null:
// plain) must outlive it.
asio::awaitable<void> run_session(Service& service, Socket socket, asio::ssl::context* tls);

}  // namespace llmb::http
