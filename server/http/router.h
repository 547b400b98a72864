// Router: from method and path to a handler. Knows no domain type.
#pragma once

#include <functional>
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
  // `pattern`: "/api/v1/runs/{id}/steps"; a parameter matches one part of the path.
  void add(std::string method, std::string pattern, Handler handler);
  // Called when nothing matches a GET: the static files and the dashboard's own routes.
  void set_fallback(Handler handler);

  // 404 and 405 (with Allow) are problem responses. HEAD is served by GET's handler.
  Response dispatch(Request& request) const;

  // "GET /api/v1/runs/{id}", for the test that holds openapi.json to the routes.
  std::vector<std::string> routes() const;

 private:
  struct Route {
    std::string method;
    std::string pattern;
    std::vector<std::string> parts;
    Handler handler;
  };
  std::vector<Route> routes_;
  Handler fallback_;
};

}  // namespace llmb::http
