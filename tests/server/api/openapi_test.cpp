// openapi.json against the routes, and against what the API really answers: every documented
// field occurs, and no other does.
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <sstream>

#include "server/push/log_text_request.h"
#include "server/push/push_request.h"
#include "storage/push_store.h"
#include "tests/server/api/sample_database.h"
#include "tests/server/api/stand_in_cluster.h"

namespace llmb::api {
namespace {

// Walks a value along its schema. Remembers, by schema, which properties were met.
class SchemaWalk {
 public:
  explicit SchemaWalk(const Json& document) : document_(document) {}

  void walk(const Json& schema, const Json& value, const std::string& where) {
    if (schema.contains("$ref")) {
      const auto name = schema["$ref"].get<std::string>().substr(1);
      return walk(document_.at(Json::json_pointer(name)), value, where);
    }
    if (schema.contains("allOf")) return walk_object(merged(schema), value, where);
    if (schema.contains("oneOf")) {
      return value.is_null() ? void() : walk(schema["oneOf"][0], value, where);
    }
    expect_type(schema, value, where);
    if (schema.contains("enum")) {
      const Json& allowed = schema["enum"];
      EXPECT_NE(std::find(allowed.begin(), allowed.end(), value), allowed.end())
          << where << " is " << value;
    }
    if (value.is_array()) {
      for (const Json& item : value) walk(schema["items"], item, where + "[]");
    }
    if (value.is_object()) walk_object(schema, value, where);
  }

  void expect_all_properties_met() const {
    for (const auto& [schema, names] : documented_) {
      for (const std::string& name : names) {
        EXPECT_TRUE(met_.at(schema).contains(name))
            << schema << " documents " << name << ", which no answer holds";
      }
    }
  }

 private:
  Json merged(const Json& schema) const {
    Json all = {{"properties", Json::object()}, {"required", Json::array()}};
    for (Json part : schema["allOf"]) {
      if (part.contains("$ref")) {
        part = document_.at(Json::json_pointer(part["$ref"].get<std::string>().substr(1)));
      }
      all["properties"].update(part["properties"]);
      for (const Json& name : part["required"]) all["required"].push_back(name);
    }
    return all;
  }

  void walk_object(const Json& schema, const Json& value, const std::string& where) {
    if (schema.contains("additionalProperties")) {
      if (!schema["additionalProperties"].is_object()) return;
      for (const auto& [name, item] : value.items()) {
        walk(schema["additionalProperties"], item, where + "." + name);
      }
      return;
    }
    for (const auto& [name, property] : schema["properties"].items()) {
      documented_[where].insert(name);
      EXPECT_TRUE(property.is_object());
    }
    for (const Json& name : schema["required"]) {
      EXPECT_TRUE(value.contains(name.get<std::string>())) << where << " lacks " << name;
    }
    met_.try_emplace(where);
    for (const auto& [name, item] : value.items()) {
      ASSERT_TRUE(schema["properties"].contains(name))
          << where << "." << name << " is not documented";
      met_[where].insert(name);
      walk(schema["properties"][name], item, where + "." + name);
    }
  }

  static bool has_type(const std::string& type, const Json& value) {
    if (type == "object") return value.is_object();
    if (type == "array") return value.is_array();
    if (type == "string") return value.is_string();
    if (type == "boolean") return value.is_boolean();
    if (type == "integer") return value.is_number_integer();
    if (type == "number") return value.is_number();
    return type == "null" && value.is_null();
  }

  static void expect_type(const Json& schema, const Json& value, const std::string& where) {
    if (!schema.contains("type")) return;
    const Json types = schema["type"].is_array() ? schema["type"] : Json::array({schema["type"]});
    EXPECT_TRUE(std::any_of(types.begin(), types.end(),
                            [&](const Json& type) { return has_type(type, value); }))
        << where << " is " << value << ", documented as " << types;
  }

  const Json& document_;
  std::map<std::string, std::set<std::string>> documented_;
  std::map<std::string, std::set<std::string>> met_;
};

class OpenApi : public ApiTest {
 protected:
  void SetUp() override {
    ApiTest::SetUp();
    cluster_ = std::make_unique<StandInCluster>(folder_, storage_options_, events_);
    restart_api([this](ApiOptions& options) { cluster_->connect(options); });
    fill();
    add_ended_runs();
    authorization_ = cluster_->authorization("ci", "submit");
    restart_api([this](ApiOptions& options) {
      cluster_->connect(options);
      options.write = [this](const std::function<void(storage::Writer&)>& task) {
        task(*writer_);
        return true;
      };
    });
    document_ = get_json("/api/v1/openapi.json");
  }

  void TearDown() override {
    api_.reset();
    cluster_.reset();
    ApiTest::TearDown();
  }

  const Json& schema_of(const std::string& path, const std::string& status, const std::string& type,
                        const std::string& method = "get") {
    return document_["paths"][path][method]["responses"][status]["content"][type]["schema"];
  }

  Json submit(const Pairs& query = {}) {
    http::Request request;
    request.method = "POST";
    request.path = request.target = "/api/v1/jobs";
    request.query = query;
    request.headers = {{"authorization", authorization_}, {"content-type", "application/json"}};
    request.body = R"({"workload": "pretrain_nemotron4", "model_size": "15b", "dtype": "bf16",
      "gpu_type": "h100", "scale": 64, "proxy": true})";
    return Json::parse(*answer(request).body);
  }

  // One that failed on a node, and one of which nothing shows why it ended.
  void add_ended_runs() {
    auto killed = sample_batch(root_, "killed", 51, 20, 7.5);
    killed.facts.events = {{parser::LogEvent::Kind::failure, "worker_killed",
                            "srun: error: gpu-05: task 2: Killed", 9'000, 21}};
    killed.summary.failure_cause = "worker_killed";
    auto stopped = sample_batch(root_, "stopped", 52, 20, 7.5);
    stopped.summary.status = parser::RunStatus::incomplete;
    stopped.summary.failure_cause.clear();
    writer_->commit(std::array{killed, stopped});
  }

  // Every run of this database as a run of cluster eos.
  Json push_of_all(const std::string& authorization) {
    std::vector<std::string> logs;
    storage::PushStore store(database_path_);
    for (const storage::RunId run : store.pending(0, 100)) {
      logs.push_back(push::packed_log(*store.tell(run, 1'000)));
    }
    http::Request request;
    request.method = "POST";
    request.path = request.target = "/api/v1/push";
    request.headers = {{"authorization", authorization}, {"content-type", push::kContentType}};
    request.body = push::packed_request({"eos", "s"}, logs);
    return Json::parse(*answer(request).body);
  }

  // The text of a log that was told, and of one that was not.
  Json push_of_text(const std::string& authorization, const Json& held) {
    const Json& log = held["logs"][0];
    const auto block = push::packed_block(0, "line\n");
    http::Request request;
    request.method = "POST";
    request.path = request.target = "/api/v1/push/text";
    request.headers = {{"authorization", authorization}, {"content-type", push::kTextContentType}};
    request.body = push::packed_text_request(
        {"eos", "s"}, {{log["root"], log["relative_path"], log["generation"], block},
                       {"/nowhere", "a.out", 1, block}});
    return Json::parse(*answer(request).body);
  }

  Json query_parameters(const Json& operation) const {
    Json list = Json::array();
    if (!operation.contains("parameters")) return list;
    for (Json parameter : operation["parameters"]) {
      if (parameter.contains("$ref")) {
        parameter =
            document_.at(Json::json_pointer(parameter["$ref"].get<std::string>().substr(1)));
      }
      if (parameter["in"] == "query") list.push_back(std::move(parameter));
    }
    return list;
  }

  static std::string of_first(std::string path) {
    if (const auto at = path.find("{id}"); at != std::string::npos) path.replace(at, 4, "1");
    return path;
  }

  // "path?name=value&name=value", none of them encoded.
  Json ask(const std::string& question) {
    const std::size_t mark = std::min(question.find('?'), question.size());
    Pairs query;
    for (std::size_t at = mark + 1; at < question.size();) {
      const std::size_t end = std::min(question.find('&', at), question.size());
      const std::size_t equals = question.find('=', at);
      query.emplace_back(question.substr(at, equals - at),
                         question.substr(equals + 1, end - equals - 1));
      at = end + 1;
    }
    return get_json(question.substr(0, mark), query);
  }

  Json document_;
  std::unique_ptr<StandInCluster> cluster_;
  std::string authorization_;
};

TEST_F(OpenApi, DescribesEveryRouteAndNoOther) {
  std::set<std::string> described;
  for (const auto& [path, item] : document_["paths"].items()) {
    for (const auto& [method, operation] : item.items()) {
      std::string upper = method;
      std::transform(upper.begin(), upper.end(), upper.begin(),
                     [](char letter) { return static_cast<char>(letter - 'a' + 'A'); });
      described.insert(upper + " " + path);
      EXPECT_TRUE(operation.contains("summary")) << path;
    }
  }
  const auto routes = router_.routes();
  EXPECT_EQ(described, std::set<std::string>(routes.begin(), routes.end()));
}

TEST_F(OpenApi, NamesEveryFamilyOfMetrics) {
  std::string description = document_["paths"]["/metrics"]["get"]["description"];
  std::replace_if(
      description.begin(), description.end(), [](char c) { return c == ',' || c == '.'; }, ' ');
  std::istringstream words(description);
  const std::vector<std::string> named{std::istream_iterator<std::string>(words), {}};
  const std::string metrics = *get("/metrics").body;
  std::istringstream lines(metrics);
  int families = 0;
  for (std::string line, name; std::getline(lines, line);) {
    if (!line.starts_with("# TYPE ")) continue;
    ++families;
    std::istringstream(line.substr(7)) >> name;
    EXPECT_TRUE(std::any_of(named.begin(), named.end(), [&](const std::string& word) {
      return word == name ||
             (word.ends_with("_*") && name.starts_with(word.substr(0, word.size() - 1)));
    })) << name;
  }
  EXPECT_GT(families, 20);
}

TEST_F(OpenApi, HoldsEveryFieldOfEveryAnswer) {
  const Json list = get_json("/api/v1/runs", {{"job_id", "5"}});
  const std::string run = "/api/v1/runs/" + list["runs"][0]["id"].dump();
  const std::string published =
      "/api/v1/runs/" + std::to_string(add_published_run(128)) + "/metrics";
  const std::string other = "/api/v1/runs/" + std::to_string(add_published_run(256)) + "/metrics";
  const std::string varied = "/api/v1/runs/" + std::to_string(add_run("varied", 77, 49, 2.0));
  const std::vector<std::pair<std::string, std::string>> questions = {
      {"/api/v1/runs/{id}/metrics", published},
      {"/api/v1/runs/{id}/metrics", other},
      {"/api/v1/runs/{id}/metrics", run + "/metrics"},
      {"/api/v1/runs/{id}/agreement", run + "/agreement"},
      {"/api/v1/compare", "/api/v1/compare?runs=1,2,3,5&include=all"},
      {"/api/v1/scaling", "/api/v1/scaling?include=all"},
      {"/api/v1/scaling", "/api/v1/scaling"},
      {"/api/v1/history", "/api/v1/history?include=all"},
      {"/api/v1/history", "/api/v1/history"},
      {"/api/v1/recipes", "/api/v1/recipes"},
      {"/api/v1/references", "/api/v1/references"},
      {"/api/v1/references/audit", "/api/v1/references/audit"},
      {"/api/v1/runs", "/api/v1/runs"},
      {"/api/v1/runs/{id}", run},
      {"/api/v1/runs/{id}", "/api/v1/runs/3"},  // failed: has an event
      {"/api/v1/runs/{id}/steps", run + "/steps"},
      {"/api/v1/runs/{id}/statistics", run + "/statistics"},
      {"/api/v1/runs/{id}/nccl", run + "/nccl"},
      {"/api/v1/runs/{id}/ranks", run + "/ranks"},
      {"/api/v1/runs/{id}/checkpoints", run + "/checkpoints"},
      {"/api/v1/runs/{id}/insight", varied + "/insight"},
      {"/api/v1/choices", "/api/v1/choices"},
      {"/api/v1/experiments", "/api/v1/experiments"},
      {"/api/v1/failures", "/api/v1/failures"},
      {"/api/v1/jobs", "/api/v1/jobs"},
      {"/api/v1/jobs/{id}", "/api/v1/jobs/1"},
      {"/api/v1/jobs/{id}/log", "/api/v1/jobs/1/log"},
      {"/api/v1/roots", "/api/v1/roots"},
      {"/api/v1/status", "/api/v1/status"},
      {"/healthz", "/healthz"},
      {"/readyz", "/readyz"}};
  const std::string ingest = cluster_->authorization("eos-agent", "ingest", "eos");
  const Json pushed = push_of_all(ingest);
  const Json held = Json::parse(
      *get("/api/v1/push", {{"cluster", "eos"}, {"store_id", "s"}}, {{"authorization", ingest}})
           .body);
  add_job(cluster_->jobs, "beta", 5);
  SchemaWalk walk(document_);
  const std::string json = "application/json";
  walk.walk(schema_of("/api/v1/jobs", "202", json, "post"), submit(), "submitted");
  walk.walk(schema_of("/api/v1/push", "200", json, "post"), pushed, "pushed");
  walk.walk(schema_of("/api/v1/push", "200", json), held, "held");
  walk.walk(schema_of("/api/v1/push/text", "200", json, "post"), push_of_text(ingest, held),
            "text");
  const Json& repeated_or_dry = schema_of("/api/v1/jobs", "200", json, "post").at("oneOf");
  walk.walk(repeated_or_dry.at(0), submit(), "repeated");
  walk.walk(repeated_or_dry.at(1), submit({{"dry_run", "true"}}), "dry");
  for (const auto& [path, question] : questions) {
    walk.walk(schema_of(path, "200", "application/json"), ask(question), path);
  }
  status_.root_errors = {"gone"};
  status_.roots_standing_by = {"/data/shared"};
  const std::string problem = "application/problem+json";
  walk.walk(schema_of("/readyz", "503", problem), get_json("/readyz", {}, 503), "/readyz 503");
  const Json& answer = document_["components"]["responses"]["BadRequest"];
  walk.walk(answer["content"][problem]["schema"], get_json("/api/v1/runs", {{"x", "y"}}, 400),
            "problem");
  walk.expect_all_properties_met();
}

// A client cannot tell from their names what they leave out.
TEST_F(OpenApi, SaysWhatEachKindOfChangeMeans) {
  const Json& kind = document_["components"]["schemas"]["RunChange"]["properties"]["kind"];
  for (const Json& name : kind["enum"]) {
    EXPECT_THAT(kind["description"].get<std::string>(),
                testing::HasSubstr(name.get<std::string>() + ": "));
  }
}

TEST_F(OpenApi, ListsTheParametersThatAreAllowed) {
  for (const auto& [path, item] : document_["paths"].items()) {
    if (!item.contains("get")) continue;
    std::set<std::string> documented;
    for (const Json& parameter : query_parameters(item["get"])) {
      documented.insert(parameter["name"]);
    }
    std::string detail = get_detail(of_first(path), {{"no_such_parameter", "1"}}, 400);
    const std::size_t begin = detail.find("allowed: ") + 9;
    detail = detail.substr(begin, detail.size() - begin - 1) + ", ";
    std::set<std::string> allowed;
    for (std::size_t end = 0; (end = detail.find(", ")) != std::string::npos;) {
      allowed.insert(detail.substr(0, end));
      detail.erase(0, end + 2);
    }
    allowed.erase("none");
    EXPECT_EQ(documented, allowed) << path;
  }
}

TEST_F(OpenApi, BoundsNumbersAsTheyAreBounded) {
  const std::string authorization = cluster_->authorization("eos-agent", "ingest", "eos");
  int bounds = 0;
  for (const auto& entry : document_["paths"].items()) {
    const std::string& path = entry.key();
    if (!entry.value().contains("get")) continue;
    const Json parameters = query_parameters(entry.value()["get"]);
    for (const Json& parameter : parameters) {
      Json schema = parameter["schema"];
      if (schema["type"] == "array") schema = schema["items"];
      if (schema["type"] != "integer" && schema["type"] != "number") continue;
      const std::string name = parameter["name"];
      // Whether it is this parameter that is complained of.
      const auto is_refused = [&](const Json& value) {
        Pairs query = {{name, value.dump()}};
        for (const Json& other : parameters) {  // some are looked at first
          if (other["name"] == "cluster") query.emplace_back("cluster", "eos");
          if (other["name"] == "text") query.emplace_back("text", "x");
        }
        const auto response = get(of_first(path), query, {{"authorization", authorization}});
        // A stream has none.
        return response.body &&
               response.body->find("Parameter '" + name + "' is") != std::string::npos;
      };
      const auto expect_bound = [&](const Json& bound, int step) {
        const bool is_whole = schema["type"] == "integer";
        const Json beyond = is_whole ? Json(bound.get<std::int64_t>() + step)
                                     : Json(bound.get<double>() * (step < 0 ? -1 : 2) + step);
        EXPECT_FALSE(is_refused(bound)) << path << " " << name << "=" << bound;
        EXPECT_TRUE(is_refused(beyond)) << path << " " << name << "=" << beyond;
        ++bounds;
      };
      expect_bound(schema.at("minimum"), -1);
      if (schema.contains("maximum")) {
        expect_bound(schema["maximum"], 1);
      } else {
        const Json largest = std::numeric_limits<std::int64_t>::max();
        EXPECT_FALSE(is_refused(largest)) << path << " " << name << " has a bound";
      }
    }
  }
  EXPECT_GT(bounds, 60);
}

TEST_F(OpenApi, ResolvesEveryReference) {
  const std::string text = document_.dump();
  for (std::size_t at = 0; (at = text.find("\"$ref\":\"#", at)) != std::string::npos; ++at) {
    const std::size_t begin = at + 9;
    const std::string pointer = text.substr(begin, text.find('"', begin) - begin);
    EXPECT_TRUE(document_.contains(Json::json_pointer(pointer))) << pointer;
  }
}

}  // namespace
}  // namespace llmb::api
