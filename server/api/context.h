// Context: what the handlers of one Api share. Thread-safe.
#pragma once

#include <string>

#include "server/api/api_options.h"
#include "server/api/kept_runs.h"
#include "server/api/latest_results.h"
#include "server/api/push_turns.h"
#include "server/api/reader_pool.h"
#include "server/api/request_metrics.h"

namespace llmb::api {

struct Context {
  explicit Context(ApiOptions options_in);

  const parser::Catalog& catalog() const {
    return options.catalog ? *options.catalog : parser::embedded_catalog();
  }

  ApiOptions options;
  // Random, one each start: keeps the ETags of another database or another version apart.
  std::string instance;
  ReaderPool readers;
  RequestMetrics request_metrics;
  LatestResults latest_results;
  KeptRuns kept_runs;
  PushTurns push_turns;
};

}  // namespace llmb::api
