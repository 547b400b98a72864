#include "server/http/message.h"

#include <nlohmann/json.hpp>

#include "server/http/packed_body.h"

namespace llmb::http {
namespace {

std::optional<std::string> first_of(const std::vector<std::pair<std::string, std::string>>& pairs,
                                    std::string_view name) {
  for (const auto& [key, value] : pairs) {
    if (key == name) return value;
  }
  return std::nullopt;
}

}  // namespace

std::size_t Body::held_bytes() const {
  return packed ? packed->held_bytes() : bytes ? bytes->size() : 0;
}

std::optional<std::string> Request::query_value(std::string_view name) const {
  return first_of(query, name);
}

std::optional<std::string> Request::header(std::string_view lower_case_name) const {
  return first_of(headers, lower_case_name);
}

Response json_response(std::string body, int status) {
  Response response;
  response.status = status;
  response.body = std::make_shared<const std::string>(std::move(body));
  return response;
}

Response problem(int status, std::string_view title, std::string_view detail) {
  // Text from the request may be part of `detail`: invalid UTF-8 in it is replaced, not fatal.
  const nlohmann::json document = {
      {"type", "about:blank"}, {"title", title}, {"status", status}, {"detail", detail}};
  Response response = json_response(
      document.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace), status);
  response.content_type = "application/problem+json";
  response.cache_control = "no-store";
  return response;
}

}  // namespace llmb::http
