// RequestError: what a handler, or a response's make_body, throws where the request cannot be
// answered as asked. Its text reaches the client, so it says what was wrong and what is allowed.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/http/message.h"

namespace llmb::http {

class RequestError : public std::runtime_error {
 public:
  using Headers = std::vector<std::pair<std::string, std::string>>;

  RequestError(int http_status, std::string problem_title, const std::string& detail,
               Headers response_headers = {})
      : std::runtime_error(detail),
        status(http_status),
        title(std::move(problem_title)),
        headers(std::move(response_headers)) {}

  int status;
  std::string title;
  Headers headers;
};

inline Response problem(const RequestError& error) {
  Response response = problem(error.status, error.title, error.what());
  response.headers = error.headers;
  return response;
}

}  // namespace llmb::http
