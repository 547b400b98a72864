// What the resources of runs share: their ETags, the room that long ones take, and the refusal when
// there is no such run.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "server/api/context.h"
#include "server/api/query_parameters.h"
#include "server/api/request_error.h"
#include "storage/database.h"

namespace llmb::api {

// Reads one row. `question` tells the representations of one run apart. Throws RequestError (404,
// 410).
std::string run_etag(Context& context, storage::RunId id, std::string_view question);

// Which one the parameter `segment` asks for; nothing: it is not given. Throws RequestError (404)
// where the run has no such segment.
std::optional<std::int32_t> asked_segment(Context& context, const QueryParameters& parameters,
                                          storage::RunId id);

// About how much memory an answer with a run's steps takes while it is made.
std::size_t making_bytes_of_steps(Context& context, storage::RunId id,
                                  const std::optional<parser::Window>& window,
                                  std::size_t bytes_a_step);

// Of a list that follows from the whole of the data. Reads one row.
std::string list_etag(Context& context, const http::Request& request,
                      const QueryParameters& parameters);

// Why there is none of this id: 410 of a run that was removed on purpose, with when and as what;
// else 404. Reads one row.
RequestError absent_run(storage::Reader& reader, storage::RunId id);

}  // namespace llmb::api
