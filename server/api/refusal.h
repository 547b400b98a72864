// Refusal: what a handler throws when the request itself is the trouble. Its text reaches the
// client, so it says what was wrong and what is allowed.
#pragma once

#include <stdexcept>
#include <string>

namespace llmb::api {

class Refusal : public std::runtime_error {
 public:
  Refusal(int http_status, std::string problem_title, const std::string& detail)
      : std::runtime_error(detail), status(http_status), title(std::move(problem_title)) {}
  int status;
  std::string title;
};

inline Refusal bad_request(const std::string& detail) {
  return {400, "Bad request", detail};
}
inline Refusal not_found(const std::string& detail) {
  return {404, "Not found", detail};
}

}  // namespace llmb::api
