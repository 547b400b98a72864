// The errors that most handlers throw, as http::RequestError.
#pragma once

#include <string>

#include "server/http/request_error.h"

namespace llmb::api {

using http::RequestError;

inline RequestError bad_request(const std::string& detail) {
  return {400, "Bad request", detail};
}
inline RequestError not_found(const std::string& detail) {
  return {404, "Not found", detail};
}

}  // namespace llmb::api
