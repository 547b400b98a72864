// What lets a page of another origin read the API: the headers of CORS, on answers to GET and HEAD
// and on the questions that a browser asks before some of them (preflights).
#pragma once

#include <string>
#include <vector>

#include "server/http/message.h"

namespace llmb::api {

// `allowed`: the origins; "*": any. Turns the refusal of a preflight into its answer, where it asks
// for what an allowed page may do. Nothing else than reading is ever allowed.
void allow_origin(const std::vector<std::string>& allowed, const http::Request& request,
                  http::Response& response);

}  // namespace llmb::api
