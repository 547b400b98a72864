#include "server/http/wire_response.h"

#include <array>
#include <boost/beast/http/status.hpp>
#include <charconv>
#include <cstdint>
#include <ctime>
#include <string_view>

#include "server/http/compression.h"
#include "server/http/conditional.h"
#include "server/http/request_error.h"

namespace llmb::http {
namespace {

constexpr std::size_t kCompressedFromBytes = 1024;
constexpr std::size_t kQuickEffortFromBytes = std::size_t{1024} * 1024;

constexpr std::string_view kHeadersOfEveryResponse =
    "Server: llmb-report\r\n"
    "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; "
    "connect-src 'self'; img-src 'self' data:; font-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'\r\n"
    "X-Content-Type-Options: nosniff\r\n"
    "Referrer-Policy: no-referrer\r\n";

void append_number(std::string& out, std::size_t number) {
  std::array<char, 24> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  out.append(digits.data(), end);
}

// RFC 9110's form, made once a second and thread.
void append_date(std::string& out) {
  thread_local std::time_t made_at = 0;
  thread_local std::array<char, 64> text = {};
  const std::time_t now = std::time(nullptr);
  if (now != made_at) {
    std::tm utc = {};
    gmtime_r(&now, &utc);
    // The C locale's names are English, and the program sets no other.
    std::strftime(text.data(), text.size(), "Date: %a, %d %b %Y %H:%M:%S GMT\r\n", &utc);
    made_at = now;
  }
  out += text.data();
}

// A handler's value must not be able to end the line and begin another.
void append_header(std::string& out, std::string_view name, std::string_view value) {
  bool has_control = false;  // without a break in the loop, so that it is done by vectors
  for (const char c : value) has_control |= static_cast<unsigned char>(c) < 0x20;
  out += name;
  out += ": ";
  if (has_control) {
    for (const char c : value) out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  } else {
    out += value;
  }
  out += "\r\n";
}

std::string_view header_of(const Request& request, std::string_view lower_case_name) {
  for (const auto& [name, value] : request.headers) {
    if (name == lower_case_name) return value;
  }
  return {};
}

struct ChosenBody {
  Body body;
  Encoding encoding = Encoding::identity;

  std::size_t size() const {  // as it goes out
    return body.packed ? body.packed->size() : body.bytes ? body.bytes->size() : 0;
  }
};

// Where a response's body comes from: what was kept, or what the response can make.
class BodySource {
 public:
  BodySource(const Request& request, Response& response, BodyCache& cache,
             const HeldBodies& held_bodies)
      : request_(request), response_(response), cache_(cache), held_bodies_(held_bodies) {}

  ChosenBody choose();
  // Room for so many bytes; throws RequestError (503) where there is none.
  std::shared_ptr<HeldBodies::Room> reserve(std::size_t bytes) const;

 private:
  std::string cache_key(Encoding encoding) const;
  Body kept(const std::string& key);  // not there where none is kept
  // As it is, or already in the encoding that is wanted where it was packed while it was made.
  ChosenBody made_body(Encoding wanted);
  Body make(Encoding wanted) const;
  // The same body; its headers become the response's.
  Body take(Body body);

  const Request& request_;
  Response& response_;
  BodyCache& cache_;
  const HeldBodies& held_bodies_;
  std::vector<std::pair<std::string, std::string>> made_headers_;
};

// Empty where the body has no name under which it could be kept.
std::string BodySource::cache_key(Encoding encoding) const {
  if (response_.etag.empty()) return {};
  std::string key = request_.target + '\n' + response_.etag + '\n';
  return key += encoding_name(encoding);
}

Body BodySource::kept(const std::string& key) {
  if (key.empty()) return {};
  return take(cache_.find(key));
}

Body BodySource::take(Body body) {
  if (!body.is_there()) return body;
  response_.headers.insert(response_.headers.end(), body.headers.begin(), body.headers.end());
  made_headers_ = body.headers;
  return body;
}

Body BodySource::make(Encoding wanted) const {
  if (!response_.write_body) return response_.make_body();
  BodyPacker packer(wanted);
  response_.write_body([&](std::string_view text) { packer.append(text); });
  BodyPacker::Made made = std::move(packer).finish();
  return {std::move(made.whole), {}, std::move(made.packed)};
}

ChosenBody BodySource::made_body(Encoding wanted) {
  if (response_.body && !response_.body_is_shared) {
    // What another method has done cannot be taken back: it is answered.
    std::shared_ptr<HeldBodies::Room> room;
    if (request_.method == "GET" || request_.method == "HEAD") {
      room = reserve(response_.body->size());
    }
    response_.body = held_bodies_.count(std::move(response_.body), std::move(room));
    response_.body_is_shared = true;
  }
  const bool can_make = response_.make_body || response_.write_body;
  if (response_.body || !can_make) return {{response_.body}};
  if (Body body = kept(cache_key(Encoding::identity)); body.bytes) return {std::move(body)};
  auto room = reserve(response_.making_bytes_max);
  Body made = make(wanted);
  if (made.is_there() && response_.making_bytes_max == 0) room = reserve(made.held_bytes());
  made.bytes = held_bodies_.count(std::move(made.bytes), made.packed ? nullptr : room);
  made.packed = held_bodies_.count(std::move(made.packed), std::move(room));
  const Encoding encoding = made.packed ? wanted : Encoding::identity;
  const std::string key = cache_key(encoding);
  if (!key.empty() && made.is_there()) cache_.keep(key, made);
  return {take(std::move(made)), encoding};
}

std::shared_ptr<HeldBodies::Room> BodySource::reserve(std::size_t bytes) const {
  if (bytes < HeldBodies::kCountedFromBytes) return nullptr;
  auto room = held_bodies_.reserve(bytes);
  if (room) return room;
  throw RequestError(
      503, "Busy",
      "The server holds as many answers of this size as it may; ask again in a moment.",
      {{"Retry-After", "5"}});
}

ChosenBody BodySource::choose() {
  const Encoding wanted = is_compressible(response_.content_type)
                              ? negotiate_encoding(header_of(request_, "accept-encoding"))
                              : Encoding::identity;
  if (wanted == Encoding::gzip && response_.gzip_body) return {{response_.gzip_body}, wanted};
  if (wanted == Encoding::zstd && response_.zstd_body) return {{response_.zstd_body}, wanted};

  const std::string key = cache_key(wanted);
  if (Body body = kept(key); body.is_there()) return {std::move(body), wanted};
  ChosenBody plain = made_body(wanted);
  if (wanted == Encoding::identity || !plain.body.bytes || plain.size() <= kCompressedFromBytes) {
    return plain;
  }
  const bool is_kept = !key.empty() && plain.size() < kQuickEffortFromBytes;
  auto packed = held_bodies_.count(std::make_shared<const std::string>(
      compress(*plain.body.bytes, wanted, is_kept ? Effort::kept : Effort::once)));
  if (packed->size() >= plain.size()) return plain;
  Body body{std::move(packed), made_headers_};
  if (!key.empty()) cache_.keep(key, body);
  return {std::move(body), wanted};
}

void append_status_line(std::string& head, int status) {
  head += "HTTP/1.1 ";  // the server's version, also towards a client of 1.0
  append_number(head, static_cast<std::size_t>(status));
  head += ' ';
  const auto phrase = boost::beast::http::obsolete_reason(
      boost::beast::http::int_to_status(static_cast<unsigned>(status)));
  head.append(phrase.data(), phrase.size());
  head += "\r\n";
}

void append_shared_headers(std::string& head, const Response& response,
                           const WireOptions& options) {
  append_date(head);
  head += kHeadersOfEveryResponse;
  if (options.is_tls) head += "Strict-Transport-Security: max-age=31536000\r\n";
  append_header(head, "Cache-Control", response.cache_control);
  if (is_compressible(response.content_type) && response.events == nullptr) {
    head += "Vary: Accept-Encoding\r\n";
  }
  for (const auto& [name, value] : response.headers) append_header(head, name, value);
  if (!options.keep_alive) {
    head += "Connection: close\r\n";
  } else if (options.is_http_1_0) {
    head += "Connection: keep-alive\r\n";
  }
}

// Says so where the client's copy is still good.
bool answer_with_304(const Request& request, const Response& response, const WireOptions& options,
                     WireResponse& wire) {
  const bool is_read = request.method == "GET" || request.method == "HEAD";
  if (response.etag.empty() || !is_read || response.status != 200) return false;
  const std::string_view held = header_of(request, "if-none-match");
  const auto tag = held.empty() ? std::nullopt : matching_etag(held, response.etag);
  if (!tag) return false;
  wire.status = 304;
  append_status_line(wire.head, wire.status);
  append_shared_headers(wire.head, response, options);
  append_header(wire.head, "ETag", *tag);
  wire.head += "\r\n";
  return true;
}

void append_encoding(std::string& head, const Response& response, Encoding encoding) {
  if (!response.etag.empty()) {
    std::string tag = '"' + response.etag;
    if (encoding != Encoding::identity) tag.append("-").append(encoding_name(encoding));
    append_header(head, "ETag", tag += '"');
  }
  if (encoding != Encoding::identity) {
    append_header(head, "Content-Encoding", encoding_name(encoding));
  }
}

// Compressed, nobody knows the length beforehand, and HTTP/1.0 has no chunks.
Encoding stream_encoding(const Request& request, const Response& response, bool is_http_1_0) {
  const bool is_short = response.stream.size_bytes.value_or(UINT64_MAX) <= kCompressedFromBytes;
  if (is_http_1_0 || is_short || !is_compressible(response.content_type)) return Encoding::identity;
  return negotiate_encoding(header_of(request, "accept-encoding"));
}

void append_length(std::string& head, std::uint64_t bytes) {
  head += "Content-Length: ";
  append_number(head, bytes);
  head += "\r\n";
}

void add_streamed_body(const Request& request, const Response& response, WireOptions options,
                       const HeldBodies& held_bodies, WireResponse& wire) {
  const bool is_head = request.method == "HEAD";
  if (!is_head) wire.room = held_bodies.reserve_stream();
  if (!is_head && !wire.room) {
    throw RequestError(503, "Busy",
                       "As many downloads as may be are under way; ask again in a moment.",
                       {{"Retry-After", "30"}});
  }
  const Encoding encoding = stream_encoding(request, response, options.is_http_1_0);
  auto body = std::make_shared<StreamedBody>(response.stream, encoding, options.is_http_1_0);
  wire.ends_with_connection = body->framing() == StreamedBody::Framing::until_close;
  options.keep_alive = options.keep_alive && !wire.ends_with_connection;
  append_status_line(wire.head, wire.status);
  append_shared_headers(wire.head, response, options);
  append_encoding(wire.head, response, encoding);
  append_header(wire.head, "Content-Type", response.content_type);
  if (body->framing() == StreamedBody::Framing::counted) {
    append_length(wire.head, body->counted_bytes());
  } else if (body->framing() == StreamedBody::Framing::chunked) {
    append_header(wire.head, "Transfer-Encoding", "chunked");
  }
  wire.head += "\r\n";
  if (!is_head) wire.streamed_body = std::move(body);
}

}  // namespace

WireResponse make_wire_response(const Request& request, Response& response,
                                const WireOptions& options, BodyCache& cache,
                                const HeldBodies& held_bodies) {
  WireResponse wire;
  wire.status = response.status;
  wire.head.reserve(768);
  if (answer_with_304(request, response, options, wire)) return wire;
  if (response.stream.next) {
    add_streamed_body(request, response, options, held_bodies, wire);
    return wire;
  }
  ChosenBody chosen;
  if (response.events == nullptr) {
    BodySource source(request, response, cache, held_bodies);
    chosen = source.choose();
    const bool is_unpacked = chosen.body.packed && chosen.encoding == Encoding::identity;
    if (is_unpacked) wire.room = source.reserve(PackedBody::kBlockBytes);
  }
  append_status_line(wire.head, wire.status);
  append_shared_headers(wire.head, response, options);
  append_encoding(wire.head, response, chosen.encoding);
  const bool may_have_body = response.status != 204 && response.status != 304;
  if (may_have_body) append_header(wire.head, "Content-Type", response.content_type);
  if (response.events == nullptr && may_have_body) {
    append_length(wire.head, chosen.size());
    if (request.method != "HEAD") {
      wire.body = std::move(chosen.body.bytes);
      wire.packed_body = std::move(chosen.body.packed);
    }
  }
  wire.head += "\r\n";
  return wire;
}

}  // namespace llmb::http
