#include "server/api/conditional.h"

#include <array>
#include <cstdint>

namespace llmb::api {
namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

}  // namespace

std::string hash_text(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char byte : text) {
    hash ^= static_cast<unsigned char>(byte);
    hash *= 0x100000001b3U;
  }
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string digits(16, '0');
  for (std::size_t i = digits.size(); i-- > 0; hash >>= 4U) digits[i] = kDigits[hash & 15U];
  return digits;
}

bool not_modified(const http::Request& request, std::string_view etag) {
  const std::optional<std::string> header = request.header("if-none-match");
  if (!header) return false;
  std::string_view rest = *header;
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    std::string_view tag = trimmed(rest.substr(0, comma));
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    if (tag == "*") return true;
    if (tag.starts_with("W/")) tag.remove_prefix(2);
    if (tag.size() < 2 || tag.front() != '"' || tag.back() != '"') continue;
    if (tag.substr(1, tag.size() - 2) == etag) return true;
  }
  return false;
}

http::Response not_modified_response(const std::string& etag) {
  http::Response response;
  response.status = 304;
  response.body = std::make_shared<const std::string>();
  response.etag = etag;
  return response;
}

http::Response cached_response(Context& context, const http::Request& request,
                               const std::string& etag,
                               const std::function<RenderedBody()>& render) {
  if (not_modified(request, etag)) return not_modified_response(etag);
  RenderedBody rendered = context.cache.find(etag);
  if (!rendered.body) {
    rendered = render();
    context.cache.put(etag, rendered);
  }
  http::Response response;
  response.body = std::move(rendered.body);
  response.headers = std::move(rendered.headers);
  response.etag = etag;
  return response;
}

http::Response hashed_response(const http::Request& request, std::string body) {
  const std::string etag = hash_text(body);
  if (not_modified(request, etag)) return not_modified_response(etag);
  http::Response response = http::json_response(std::move(body));
  response.etag = etag;
  return response;
}

}  // namespace llmb::api
