#include "server/api/cross_origin.h"

#include <algorithm>
#include <string_view>

namespace llmb::api {
namespace {

bool is_reading(std::string_view method) {
  return method == "GET" || method == "HEAD";
}

// Of a path that can be read: of others there is nothing to allow.
bool is_preflight_of_reading(const http::Request& request, const http::Response& response) {
  if (request.method != "OPTIONS" || response.status != 405) return false;
  const auto asked = request.header("access-control-request-method");
  if (!asked || !is_reading(*asked)) return false;
  return std::any_of(response.headers.begin(), response.headers.end(), [](const auto& header) {
    return header.first == "Allow" && header.second.find("GET") != std::string::npos;
  });
}

http::Response preflight_answer() {
  http::Response response;
  response.status = 204;
  response.headers = {{"Access-Control-Allow-Methods", "GET, HEAD"},
                      {"Access-Control-Allow-Headers", "If-None-Match, Last-Event-ID"},
                      {"Access-Control-Max-Age", "600"}};
  return response;
}

}  // namespace

void allow_origin(const std::vector<std::string>& allowed, const http::Request& request,
                  http::Response& response) {
  const bool is_preflight = is_preflight_of_reading(request, response);
  if (allowed.empty() || (!is_preflight && !is_reading(request.method))) return;
  const auto has = [&](const std::string& origin) {
    return std::find(allowed.begin(), allowed.end(), origin) != allowed.end();
  };
  const auto origin = request.header("origin");
  const bool is_any = has("*");
  const bool is_allowed = is_any || (origin && has(*origin));
  if (is_preflight && is_allowed) response = preflight_answer();
  if (!is_any) response.headers.emplace_back("Vary", "Origin");
  if (!is_allowed) return;
  response.headers.emplace_back("Access-Control-Allow-Origin", is_any ? "*" : *origin);
  if (is_preflight) return;
  response.headers.emplace_back("Access-Control-Expose-Headers", "ETag, Link, Retry-After");
}

}  // namespace llmb::api
