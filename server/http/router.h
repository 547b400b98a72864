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

// Called on several threads at once. A RequestError becomes the problem response that it tells;
// anything else that it throws becomes a 500 whose text does not reach the client.
using Handler = std::function<Response(const Request&)>;

// What a handler spends its time with, which decides on whose threads it runs. Those of one kind do
// not hold up those of another.
enum class Work {
  quick,      // a few rows: runs on the threads that serve the connections
  computing,  // reads or computes for long: on a pool of low priority
  waiting,  // waits for what is not ours (Slurm, a mounted file system): on a pool of many threads
};

struct RouteOptions {
  Work work = Work::quick;
  std::optional<std::size_t> body_bytes_max = std::nullopt;  // instead of the server's limit
};

class Router {
 public:
  // `pattern`: "/api/v1/runs/{id}/steps"; a parameter matches one part of the path. Where several
  // patterns match, the one with the fewest parameters wins.
  void add(std::string method, std::string pattern, Handler handler, RouteOptions options = {});
  // Called when nothing matches a GET: the static files and the dashboard's own routes.
  void set_fallback(Handler handler);
  // Called with every answer to a request before it goes out, whoever made it: handlers, what they
  // threw, and the server's own refusals. It may add headers.
  void set_finishing(std::function<void(const Request&, Response&)> finishing);

  void finish(const Request& request, Response& response) const;

  // 404 and 405 (with Allow) are problem responses. HEAD is served by GET's handler.
  Response dispatch(Request& request) const;

  // Those of the route that dispatch() would take; the default ones where there is none.
  RouteOptions options_for(std::string_view method, std::string_view path) const;

  // "GET /api/v1/runs/{id}", for the test that holds openapi.json to the routes.
  std::vector<std::string> routes() const;

 private:
  struct Route {
    std::string method;
    std::string pattern;
    std::vector<std::string> parts;  // "{id}" is kept with its braces
    std::size_t parameter_count = 0;
    Handler handler;
    RouteOptions options;
  };
  // The route that serves `method` there, or null; `allowed` collects what would be served.
  const Route* find(std::string_view method, const std::vector<std::string_view>& parts,
                    std::string* allowed) const;

  std::vector<Route> routes_;
  Handler fallback_;
  std::function<void(const Request&, Response&)> finishing_;
};

}  // namespace llmb::http
