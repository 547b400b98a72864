#include "server/api/tagged_response.h"

#include <utility>

#include "parser/foundation/content_hash.h"
#include "parser/foundation/hex.h"

namespace llmb::api {

std::string hash_text(std::string_view text) {
  return parser::hex_text(parser::fnv1a(text));
}

http::Response tagged_response(std::string etag, std::function<http::Body()> render) {
  http::Response response;
  response.etag = std::move(etag);
  response.make_body = std::move(render);
  return response;
}

http::Response written_response(std::string etag,
                                std::function<void(const http::TextSink&)> write) {
  http::Response response;
  response.etag = std::move(etag);
  response.write_body = std::move(write);
  return response;
}

http::Response hashed_response(std::string body) {
  http::Response response = http::json_response(std::move(body));
  response.etag = hash_text(*response.body);
  return response;
}

}  // namespace llmb::api
