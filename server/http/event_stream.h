// An open event stream (server-sent events): writes a channel's events to one client.
#pragma once

#include "server/http/event_channel.h"
#include "server/http/service.h"
#include "server/http/stream.h"

namespace llmb::http {

// After the response's head; must run on a strand. Begins behind the id of the request's
// Last-Event-ID header or last_event_id parameter, or with what is published from now on. Ends
// when the client leaves or does not take its events in time, or the service stops.
asio::awaitable<void> stream_events(Service& service, Stream& stream, ConnectionTable::Entry& entry,
                                    EventChannel& channel, const Request& request);

}  // namespace llmb::http
