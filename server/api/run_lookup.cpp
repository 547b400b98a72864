#include "server/api/run_lookup.h"

#include "server/api/tagged_response.h"

namespace llmb::api {
std::string run_etag(Context& context, storage::RunId id, std::string_view question) {
  const auto revision =
      context.readers.with_reader([&](storage::Reader& reader) { return reader.run_revision(id); });
  if (!revision) throw run_not_found(id);
  return context.instance + "-run" + std::to_string(id) + "-" + std::to_string(*revision) + "-" +
         hash_text(question);
}

RequestError run_not_found(storage::RunId id) {
  return not_found("There is no run with the id " + std::to_string(id) +
                   "; GET /api/v1/runs lists those there are.");
}

}  // namespace llmb::api
