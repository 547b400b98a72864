#include "server/api/conditional.h"

#include "parser/foundation/content_hash.h"
#include "parser/foundation/hex.h"
#include "server/http/conditional.h"

namespace llmb::api {

std::string hash_text(std::string_view text) {
  return parser::hex_text(parser::fnv1a(text));
}

bool not_modified(const http::Request& request, std::string_view etag) {
  const std::optional<std::string> header = request.header("if-none-match");
  return header && http::matching_etag(*header, etag);
}

http::Response not_modified_response(const std::string& etag) {
  http::Response response;
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
