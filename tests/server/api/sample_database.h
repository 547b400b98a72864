// A real database in a folder of its own, filled through storage's Writer, and an Api on it.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/api/api.h"
#include "server/api/json.h"
#include "server/http/router.h"
#include "server/http/service.h"
#include "storage/database.h"
#include "storage/job_store.h"
#include "tests/storage/temporary_database.h"
#include "tests/temporary_folder.h"

namespace llmb::api {

using Pairs = std::vector<std::pair<std::string, std::string>>;

// Steps 0 to `last_iteration`, a step time of `step_time_s` each, every optional field filled.
storage::IngestBatch sample_batch(storage::RootId root, const std::string& experiment,
                                  std::int64_t job_id, std::int64_t last_iteration,
                                  double step_time_s);

// Every step, and what ingest makes of them.
void train_with_batch(storage::IngestBatch& batch, std::int64_t global_batch_size);

class ApiTest : public ::testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  // What the server makes of the handler's answer: problem responses, 304s, bodies made late.
  http::Response answer(http::Request& request);
  http::Response get(const std::string& path, const Pairs& query = {}, const Pairs& headers = {});
  // A streamed answer, its first piece not read yet.
  http::Response begin(const std::string& path);
  // What is left of it. Nothing where it is broken off.
  static std::optional<std::string> rest_of(const http::Response& response);
  // Empty where there is none of that name.
  static std::string header_of(const http::Response& response, std::string_view name);
  // The body as JSON; fails the test where the status is not `status`.
  Json get_json(const std::string& path, const Pairs& query = {}, int status = 200);
  // The detail of a problem response with that status.
  std::string get_detail(const std::string& path, const Pairs& query, int status);

  // A tree of logs that is there, as one that is ingested.
  storage::RootId watch(const std::filesystem::path& tree);
  storage::RunId add_run(const std::string& experiment, std::int64_t job_id,
                         std::int64_t last_iteration, double step_time_s);
  // The run of Nemotron-4 15B BF16 on 64 H100, as its document measured it, with 50 steps; its log
  // prints `global_batch_size`, where the document has 256.
  storage::IngestBatch published_batch(std::int64_t global_batch_size) const;
  storage::RunId add_published_run(std::int64_t global_batch_size);
  // A running job of the launch that sample_batch()'s runs are of.
  static storage::JobRecord add_job(storage::JobStore& jobs, const std::string& experiment,
                                    std::int64_t job_id);
  // Three experiments, five runs, a restart, a failure, a parked file, a root with an error.
  void fill();

  // An Api with other options takes the place of the first one.
  void restart_api(const std::function<void(ApiOptions&)>& change);
  // Runs SQL on the database file, beside the Writer.
  void execute_sql(const std::string& sql);

  const TemporaryFolder temporary_;
  const storage::TemporaryDatabase database_;
  const std::filesystem::path& folder_ = temporary_.path();
  std::string database_path_;
  storage::OpenOptions storage_options_;
  std::unique_ptr<storage::Writer> writer_;
  storage::RootId root_ = 0;
  http::EventChannel events_;
  ingest::IngestStatus status_;
  http::ServerCounters counters_;
  std::unique_ptr<Api> api_;
  http::Router router_;
  std::unique_ptr<http::Service> service_;
};

}  // namespace llmb::api
