// Conditional requests: an ETag is known before anything expensive is read, so that a client
// which already holds the answer costs one row.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "server/api/context.h"
#include "server/http/message.h"

namespace llmb::api {

// 64-bit FNV-1a in hexadecimal: names a query or a body within an ETag or a cursor.
std::string hash_text(std::string_view text);

// The client already holds what this tag names.
bool not_modified(const http::Request& request, std::string_view etag);
// The tag and no body: the server compares once more, and answers 304.
http::Response not_modified_response(const std::string& etag);

// 304 where the client has it, else the cached body, else what `render` gives, which is kept.
http::Response cached_response(Context& context, const http::Request& request,
                               const std::string& etag,
                               const std::function<RenderedBody()>& render);

// For what has no revision: the tag is the content's own hash.
http::Response hashed_response(const http::Request& request, std::string body);

}  // namespace llmb::api
