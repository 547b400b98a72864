// Router: from method and path to a handler. Knows no domain type.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/http/message.h"

namespace llmb::http {

// Called on any of the server's threads, several at once. What it throws becomes a 500 whose
// text does not reach the client.
using Handler = std::function<Response(const Request&)>;

class Router {
 public:
  // `pattern`: "/api/v1/runs/{id}/steps"; a parameter matches one part of the path. Where several
  // patterns match, the one with the fewest parameters wins. `body_bytes_max` overrides the
  // server's limit.
  void add(std::string method, std::string pattern, Handler handler,
           std::optional<std::size_t> body_bytes_max = std::nullopt);
  // Called when nothing matches a GET: the static files and the dashboard's own routes.
  void set_fallback(Handler handler);

  // 404 and 405 (with Allow) are problem responses. HEAD is served by GET's handler.
  Response dispatch(Request& request) const;

  // The route's own limit on a request's body, if it has one.
  std::optional<std::size_t> body_bytes_max(std::string_view method, std::string_view path) const;

  // "GET /api/v1/runs/{id}", for the test that holds openapi.json to the routes.
  std::vector<std::string> routes() const;

 private:
  struct Route {
    std::string method;
    std::string pattern;
    std::vector<std::string> parts;  // "{id}" is kept with its braces
    std::size_t parameter_count = 0;
    Handler handler;
    std::optional<std::size_t> body_bytes_max;
  };
  // The route that serves `method` there, or null; `allowed` collects what would be served.
  const Route* find(std::string_view method, const std::vector<std::string_view>& parts,
                    std::string* allowed) const;

  std::vector<Route> routes_;
  Handler fallback_;
};

}  // namespace llmb::http
