// The server that the tests talk to: a handful of routes, on a free port of 127.0.0.1.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>

#include "server/http/event_channel.h"
#include "server/http/server.h"
#include "tests/server/http/raw_client.h"

namespace llmb::http {

inline ServerOptions test_options() {
  ServerOptions options;
  options.port = 0;
  return options;
}

class TestServer {
 public:
  explicit TestServer(const ServerOptions& options = test_options(),
                      const std::function<void(Router&)>& add_routes = {})
      : server(options, router) {
    if (add_routes) add_routes(router);
    router.add("GET", "/json", [this](const Request&) {
      Response response = json_response(R"({"a":1})");
      response.etag = "v1";
      ++handled;
      return response;
    });
    router.add("GET", "/large", [this](const Request&) {
      Response response;
      response.etag = "large-1";
      response.make_body = [this] {
        ++bodies_made;
        return Body{std::make_shared<const std::string>(large_body()), {{"X-Made", "late"}}};
      };
      return response;
    });
    router.add("GET", "/huge", [](const Request&) {
      Response response = json_response(std::string(64 * 1024 * 1024, 'x'));
      response.content_type = "application/octet-stream";
      return response;
    });
    router.add("GET", "/runs/{id}", [](const Request& request) {
      return json_response(request.path_parameters.at("id"));
    });
    router.add("GET", "/echo", [](const Request& request) {
      return json_response(request.path + "|" + request.query_value("q").value_or("-") + "|" +
                           request.method + "|" + request.peer);
    });
    router.add("POST", "/echo", [](const Request& request) { return json_response(request.body); });
    router.add("POST", "/small", [](const Request& request) { return json_response(request.body); },
               {.body_bytes_max = 10});
    router.add("GET", "/throws", [](const Request&) -> Response {
      throw std::runtime_error("a secret of the database");
    });
    router.add("GET", "/throws-late", [](const Request&) {
      Response response;
      response.make_body = []() -> Body { throw std::runtime_error("a secret of the database"); };
      return response;
    });
    router.add("GET", "/events", [this](const Request& request) {
      Response response;
      response.events = &channel;
      if (request.query_value("recent")) response.recent_events = std::chrono::hours(1);
      return response;
    });
    server.start();
  }

  static std::string large_body() {
    std::string body = "[0";
    for (int i = 1; i < 5000; ++i) body += "," + std::to_string(i);
    return body + "]";
  }

  std::uint16_t port() const { return server.port(); }

  EventChannel channel{100};  // the last id given so far
  Router router;
  std::atomic<int> handled = 0;
  std::atomic<int> bodies_made = 0;
  Server server;
};

}  // namespace llmb::http
