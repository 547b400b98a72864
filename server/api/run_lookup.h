// What the resources of one run share: its ETag, and the refusals when there is no such run or its
// window is too long.
#pragma once

#include <string>
#include <string_view>

#include "server/api/context.h"
#include "server/api/request_error.h"
#include "storage/database.h"

namespace llmb::api {

// Reads one row. `question` tells the representations of one run apart. Throws RequestError (404).
std::string run_etag(Context& context, storage::RunId id, std::string_view question);

RequestError run_not_found(storage::RunId id);

// The samples of a window are held at once: throws RequestError (400) where they may be too many.
void refuse_long_window(const parser::LogFacts& facts, const parser::Window& window);

}  // namespace llmb::api
