// An open event stream (server-sent events): writes a channel's events to one client.
#pragma once

#include <cstdint>

#include "server/http/event_channel.h"
#include "server/http/message.h"
#include "server/http/service.h"
#include "server/http/stream.h"

namespace llmb::http {

// After the response's head; must run on a strand. `last_id`: of the last event that the client
// has. Ends when the client leaves or does not take its events in time, or the service stops.
asio::awaitable<void> stream_events(Service& service, Stream& stream, ConnectionTable::Entry& entry,
                                    EventChannel& channel, std::uint64_t last_id);

// That id, for the answer to a request: what its Last-Event-ID says, else where the answer's recent
// events begin. `response.events` is there.
std::uint64_t first_event_id(const Request& request, const Response& response);

}  // namespace llmb::http
