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
inline RequestError log_unreadable(const std::string& why) {
  return {503, "Log unreadable", why, {{"Retry-After", "10"}}};
}

}  // namespace llmb::api
