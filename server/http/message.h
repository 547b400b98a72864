// Request and Response: what a handler sees and gives. Knows no Beast and no Asio.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace llmb::http {

class EventChannel;
class PackedBody;

struct Request {
  std::string method;  // upper case
  std::string target;  // as it was sent: path and query, still encoded
  std::string path;    // decoded, always begins with '/', no "..", no query
  std::vector<std::pair<std::string, std::string>> query;           // decoded, in order
  std::vector<std::pair<std::string, std::string>> headers;         // names in lower case
  std::map<std::string, std::string, std::less<>> path_parameters;  // "{id}" of the route
  std::string body;
  std::string host;  // "name" or "name:port", as the client asked for it; may be empty in HTTP/1.0
  std::string peer;  // address of the client

  std::optional<std::string> query_value(std::string_view name) const;  // first of that name
  std::optional<std::string> header(std::string_view lower_case_name) const;
};

// A body, and the headers that are only known once it is made.
struct Body {
  std::shared_ptr<const std::string> bytes;
  std::vector<std::pair<std::string, std::string>> headers = {};
  std::shared_ptr<const PackedBody> packed = nullptr;  // instead of bytes, where it is large

  bool is_there() const { return bytes != nullptr || packed != nullptr; }
  std::size_t held_bytes() const;  // in memory
};

using TextSink = std::function<void(std::string_view)>;

// A body of any size, which is read while it is sent and held at no time.
struct BodyStream {
  // The next bytes, empty at the end. Called on a pool, once the bytes before were taken, by one
  // thread at a time. What it throws breaks the connection off: a client must see that it has not
  // all.
  std::function<std::string()> next;
  std::optional<std::uint64_t> size_bytes = std::nullopt;  // of all, where that is known beforehand
};

struct Response {
  int status = 200;
  std::string content_type = "application/json";
  // Shared so that cached and static bodies are never copied.
  std::shared_ptr<const std::string> body;
  bool body_is_shared = false;  // others hold it too: it takes no memory of its own
  // Instead of body, for an answer that has an etag and is costly to make: called at most once,
  // after the handler has returned, and not at all where the client's copy or the server's cache is
  // still good. May throw RequestError (request_error.h).
  std::function<Body()> make_body;
  // The same for a body that may be large: gives its text piece by piece. From a MiB on it is
  // packed as it comes (packed_body.h), and sent block by block as the client takes it.
  std::function<void(const TextSink&)> write_body;
  // Instead of body, where `next` is set. Of these only so many are sent at once; a further one is
  // answered with 503. They are not cached.
  BodyStream stream;
  // About how much memory make_body or write_body takes, the body included, where that may be a MiB
  // and more: so much room is kept for it while it is called. 0: less.
  std::size_t making_bytes_max = 0;
  // The body already compressed, where that was done beforehand.
  std::shared_ptr<const std::string> gzip_body;
  std::shared_ptr<const std::string> zstd_body;
  // Where set, the server answers If-None-Match with 304 and no body. Without quotes. Compressed
  // bodies are kept by target and etag, so equal ones must mean equal bytes.
  std::string etag;
  std::string cache_control = "no-cache";
  std::vector<std::pair<std::string, std::string>> headers;
  // Where set, the response is a server-sent event stream of this channel, and body is unused.
  EventChannel* events = nullptr;
  // It begins with those that were published so shortly before, but for a client that comes back.
  std::chrono::milliseconds recent_events{0};
};

Response json_response(std::string body, int status = 200);

// application/problem+json (RFC 9457). `detail` says what was wrong and what is allowed.
Response problem(int status, std::string_view title, std::string_view detail);

}  // namespace llmb::http
