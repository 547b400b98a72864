// Api: the resources of /api/v1, the health endpoints and /metrics, as routes of a Router.
// One file a resource: request -> storage -> JSON. Every shape is described in openapi.json.
//
// Handlers are called on any of the server's threads, several at once; each borrows a read-only
// database connection for as long as it reads, and holds none while its answer is written.
#pragma once

#include <functional>
#include <memory>

#include "server/api/api_options.h"
#include "server/http/router.h"

namespace llmb::api {

struct Context;

class Api {
 public:
  // Opens nothing: the database may come, go and come back while the Api lives.
  explicit Api(ApiOptions options);
  ~Api();
  Api(const Api&) = delete;
  Api& operator=(const Api&) = delete;

  // Measures runs before scaling or history are asked for, as they are asked for first, so that the
  // first question after a start takes no longer than others: the newest ones first, until all are
  // or `is_stopping` says yes. Nothing where the database cannot be read. Takes long.
  void measure_ahead(const std::function<bool()>& is_stopping);

  // The routes refer to this Api, which must outlive the Router's last dispatch.
  void add_routes(http::Router& router);

 private:
  std::unique_ptr<Context> context_;
};

}  // namespace llmb::api
