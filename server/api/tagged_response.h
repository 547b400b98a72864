// Responses with an ETag. Where a resource has a revision, the tag is known before anything costly
// is read: the server compares it with the client's copy and with its cache, and asks for the body
// only where both are older.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "server/http/message.h"

namespace llmb::api {

// 64-bit FNV-1a in hexadecimal: names a query or a body within an ETag or a cursor.
std::string hash_text(std::string_view text);

// `render` is called once the handler has returned, if at all: what it captures has to outlive
// that. The request and the Context do.
http::Response tagged_response(std::string etag, std::function<http::Body()> render);

// The same for what may be large: `write` gives the text piece by piece.
http::Response written_response(std::string etag, std::function<void(const http::TextSink&)> write);

// For what has no revision: the tag is the content's own hash.
http::Response hashed_response(std::string body);

}  // namespace llmb::api
