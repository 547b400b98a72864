#include "server/api/request_body.h"

#include <vector>

#include "parser/foundation/text.h"
#include "server/api/request_error.h"

namespace llmb::api {
namespace {

constexpr std::string_view kCharset = "charset=";

RequestError unsupported(const std::string& detail) {
  return {415, "Unsupported media type", detail};
}

bool is_other_charset(std::string_view parameter) {
  parameter = parser::trimmed(parameter);
  if (!parser::equal_but_for_case(parameter.substr(0, kCharset.size()), kCharset)) return false;
  const std::string_view charset = parser::trimmed(parameter.substr(kCharset.size()), "\"");
  return !parser::equal_but_for_case(charset, "utf-8");
}

}  // namespace

void require_media_type(const http::Request& request, std::string_view wanted,
                        const std::string& detail) {
  const std::string header = request.header("content-type").value_or("");
  const std::vector<std::string_view> parts = parser::split(header, ';');
  if (!parser::equal_but_for_case(parser::trimmed(parts.front()), wanted)) {
    throw unsupported(detail);
  }
  for (const std::string_view parameter : parts) {
    if (is_other_charset(parameter)) throw unsupported("The body has to be in UTF-8.");
  }
}

std::string content_encoding(const http::Request& request) {
  const std::string header = request.header("content-encoding").value_or("identity");
  return parser::lower(parser::trimmed(header));
}

void require_not_encoded(const http::Request& request) {
  if (content_encoding(request) == "identity") return;
  throw RequestError(415, "Unsupported media type",
                     "The body has to come as it is, without a Content-Encoding.",
                     {{"Accept-Encoding", "identity"}});
}

}  // namespace llmb::api
