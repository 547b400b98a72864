// What a request says of its body: its media type and how it is encoded. Names are compared without
// regard to case.
#pragma once

#include <string>
#include <string_view>

#include "server/http/message.h"

namespace llmb::api {

// Throws RequestError 415 with `detail` where the body is of another type than `wanted`, or of
// another charset than UTF-8.
void require_media_type(const http::Request& request, std::string_view wanted,
                        const std::string& detail);

// In lower case; "identity" where it is not encoded.
std::string content_encoding(const http::Request& request);
// Throws RequestError 415 where it is encoded.
void require_not_encoded(const http::Request& request);

}  // namespace llmb::api
