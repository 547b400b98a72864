#include "server/http/wire_response.h"

#include <array>
#include <charconv>
#include <ctime>
#include <string_view>

#include "server/http/compression.h"
#include "server/http/conditional.h"

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

std::string_view reason_phrase(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 201:
      return "Created";
    case 202:
      return "Accepted";
    case 204:
      return "No Content";
    case 304:
      return "Not Modified";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 409:
      return "Conflict";
    case 412:
      return "Precondition Failed";
    case 413:
      return "Content Too Large";
    case 415:
      return "Unsupported Media Type";
    case 417:
      return "Expectation Failed";
    case 421:
      return "Misdirected Request";
    case 422:
      return "Unprocessable Content";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 503:
      return "Service Unavailable";
    case 505:
      return "HTTP Version Not Supported";
    case 507:
      return "Insufficient Storage";
    default:
      return "Status";
  }
}

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
  std::shared_ptr<const std::string> bytes;
  Encoding encoding = Encoding::identity;
};

std::shared_ptr<const std::string> identity_body(const Request& request, const Response& response,
                                                 BodyCache& cache) {
  if (response.body || !response.make_body) return response.body;
  if (response.etag.empty()) return response.make_body();
  const std::string key = request.target + '\n' + response.etag;
  std::shared_ptr<const std::string> body = cache.find(key);
  if (!body) {
    body = response.make_body();
    if (body) cache.keep(key, body);
  }
  return body;
}

ChosenBody choose_body(const Request& request, const Response& response, BodyCache& cache) {
  const Encoding wanted = is_compressible(response.content_type)
                              ? negotiate_encoding(header_of(request, "accept-encoding"))
                              : Encoding::identity;
  if (wanted == Encoding::identity) return {identity_body(request, response, cache)};
  if (wanted == Encoding::gzip && response.gzip_body) return {response.gzip_body, wanted};
  if (wanted == Encoding::zstd && response.zstd_body) return {response.zstd_body, wanted};

  std::string key;
  if (!response.etag.empty()) {
    key.append(request.target).append("\n").append(response.etag).append("\n");
    key += encoding_name(wanted);
    if (auto kept = cache.find(key)) return {std::move(kept), wanted};
  }
  std::shared_ptr<const std::string> plain = identity_body(request, response, cache);
  if (!plain || plain->size() <= kCompressedFromBytes) return {std::move(plain)};
  const bool is_kept = !key.empty() && plain->size() < kQuickEffortFromBytes;
  auto packed = std::make_shared<const std::string>(
      compress(*plain, wanted, is_kept ? Effort::kept : Effort::once));
  if (packed->size() >= plain->size()) return {std::move(plain)};
  if (!key.empty()) cache.keep(key, packed);
  return {std::move(packed), wanted};
}

void append_status_line(std::string& head, int status) {
  head += "HTTP/1.1 ";  // the server's version, also towards a client of 1.0
  append_number(head, static_cast<std::size_t>(status));
  head += ' ';
  head += reason_phrase(status);
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

}  // namespace

WireResponse make_wire_response(const Request& request, const Response& response,
                                const WireOptions& options, BodyCache& cache) {
  WireResponse wire;
  wire.status = response.status;
  wire.head.reserve(768);
  const bool is_read = request.method == "GET" || request.method == "HEAD";
  if (!response.etag.empty() && is_read && response.status == 200) {
    const std::string_view held = header_of(request, "if-none-match");
    if (const auto tag = held.empty() ? std::nullopt : matching_etag(held, response.etag)) {
      wire.status = 304;
      append_status_line(wire.head, wire.status);
      append_shared_headers(wire.head, response, options);
      append_header(wire.head, "ETag", *tag);
      wire.head += "\r\n";
      return wire;
    }
  }
  append_status_line(wire.head, wire.status);
  append_shared_headers(wire.head, response, options);
  ChosenBody chosen;
  if (response.events == nullptr) chosen = choose_body(request, response, cache);
  if (!response.etag.empty()) {
    std::string tag = '"' + response.etag;
    if (chosen.encoding != Encoding::identity) {
      tag.append("-").append(encoding_name(chosen.encoding));
    }
    append_header(wire.head, "ETag", tag += '"');
  }
  if (chosen.encoding != Encoding::identity) {
    append_header(wire.head, "Content-Encoding", encoding_name(chosen.encoding));
  }
  const bool may_have_body = response.status != 204 && response.status != 304;
  if (may_have_body) append_header(wire.head, "Content-Type", response.content_type);
  if (response.events == nullptr && may_have_body) {
    wire.head += "Content-Length: ";
    append_number(wire.head, chosen.bytes ? chosen.bytes->size() : 0);
    wire.head += "\r\n";
    if (request.method != "HEAD") wire.body = std::move(chosen.bytes);
  }
  wire.head += "\r\n";
  return wire;
}

}  // namespace llmb::http
