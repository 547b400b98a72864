// GET /api/v1/openapi.json: the description of this API, written by hand in openapi.json and held
// to the routes and to real answers by a test.
#include "server/api/api_documents.h"
#include "server/api/query_parameters.h"
#include "server/api/resources.h"
#include "server/api/tagged_response.h"

namespace llmb::api {

http::Response get_openapi(Context&, const http::Request& request) {
  const QueryParameters parameters(request, {});
  static const auto document = std::make_shared<const std::string>(api_documents().front().bytes);
  static const std::string etag = hash_text(*document);
  http::Response response;
  response.body = document;
  response.etag = etag;
  return response;
}

}  // namespace llmb::api
