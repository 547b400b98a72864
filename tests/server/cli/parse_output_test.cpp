// The csv parses, the json is what its schema says, and both hold the same numbers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/server/cli/json_schema.h"
#include "tests/server/cli/program_run.h"
#include "tests/server/cli/training_logs.h"
#include "tests/temporary_folder.h"

namespace llmb::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

nlohmann::json schema() {
  std::ifstream file(LLMB_SOURCE_DIR "/server/report/parse_output.schema.json");
  return nlohmann::json::parse(file);
}

// RFC 4180, strictly: CRLF between records, quotes only around whole fields.
std::vector<std::vector<std::string>> read_csv(const std::string& text) {
  std::vector<std::vector<std::string>> records;
  std::size_t at = 0;
  while (at < text.size()) {
    std::vector<std::string> record;
    while (true) {
      std::string field;
      if (text[at] == '"') {
        for (++at; text.at(at) != '"' || text.at(at + 1) == '"'; ++at) {
          if (text[at] == '"') ++at;
          field += text[at];
        }
        ++at;
      } else {
        while (text.at(at) != ',' && text.at(at) != '\r') {
          EXPECT_NE(text[at], '"');
          field += text[at++];
        }
      }
      record.push_back(field);
      if (text.at(at) != ',') break;
      ++at;
    }
    EXPECT_EQ(text.substr(at, 2), "\r\n");
    at += 2;
    records.push_back(record);
  }
  return records;
}

class ParseOutput : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_.write("t/a.out", nemo_log(49));
    folder_.write("t/b, \"two\"\n.out", nemo_log(30) +
                                            "torch.OutOfMemoryError: CUDA out of "
                                            "memory. Tried to allocate 2 GiB, sorry\n");
    folder_.write("t/c.out", megatron_bridge_log(50));
    folder_.write("t/d.out", "nothing\n");
    folder_.write("t/sbatch_d.out", "nothing\n");
  }

  std::string parse(std::vector<std::string> options) const {
    options.insert(options.begin(), "parse");
    options.emplace_back("t");
    const ProgramRun run = run_program(options, {folder_.path(), {}, false});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    return run.out;
  }

  TemporaryFolder folder_;
};

TEST_F(ParseOutput, JsonIsWhatItsSchemaSays) {
  for (const bool has_all : {false, true}) {
    std::vector<std::string> options = {"--format=json"};
    if (has_all) options.insert(options.end(), {"--samples", "--explain"});
    const auto document = nlohmann::json::parse(parse(options));
    EXPECT_THAT(schema_violations(schema(), document), IsEmpty());
    EXPECT_EQ(document.at("runs").at(0).contains("samples"), has_all);
    EXPECT_EQ(document.at("runs").at(0).contains("refused_lines"), has_all);
    EXPECT_EQ(document.at("runs").at(0).at("insight").at("timed_step_count"), 50);
  }
}

// torchtitan prints tokens per second, from which the times follow; the mark of the steps is no
// field of their lines.
TEST_F(ParseOutput, JsonSaysThatTimesFollowFromRates) {
  std::string log =
      "Building 2-D device mesh with ['dp_shard', 'tp'], [4, 2]\nTrainer is initialized with local "
      "batch size 1, global batch size 8, gradient accumulation steps 1, sequence length 8192, "
      "total steps 50 (warmup 2)\n";
  for (int step = 1; step <= 50; ++step) {
    log += "root - INFO - step: " + std::to_string(step) +
           "  loss: 9.5  memory: 68.50GiB(86.69%)  tps: 4,096  tflops: 300.1\n";
  }
  folder_.write("t/a.out", log);
  const auto document = nlohmann::json::parse(parse({"--format=json", "--samples"}));
  EXPECT_THAT(schema_violations(schema(), document), IsEmpty());
  const auto& run = document.at("runs").at(0);
  EXPECT_EQ(run.at("step_time_source"), "rate");
  EXPECT_EQ(run.at("step_time_s_mean"), 2.0);
  EXPECT_FALSE(run.at("samples").at(0).at("extra_fields").contains("time_is_from_rate"));
}

TEST_F(ParseOutput, SchemaIsHeldToByTheValidator) {
  auto document = nlohmann::json::parse(parse({"--format=json"}));
  document["runs"][0]["status"] = "splendid";
  document["runs"][1].erase("window");
  document["runs"][2]["step_time_s_mean"] = "1.5";
  document["runs"][3]["surprise"] = 1;
  EXPECT_EQ(schema_violations(schema(), document).size(), 4U);
}

// A reference resolved, and without what is no part of a value's type.
nlohmann::json type_of(const nlohmann::json& document, nlohmann::json schema) {
  if (schema.contains("$ref")) {
    const auto place = schema["$ref"].get<std::string>().substr(1);
    return type_of(document, document.at(nlohmann::json::json_pointer(place)));
  }
  if (schema.contains("oneOf")) {
    schema = type_of(document, schema["oneOf"][0]);
    schema["type"] = {schema["type"], "null"};
  }
  for (const char* key : {"description", "format", "additionalProperties"}) schema.erase(key);
  if (schema.contains("items")) schema["items"] = type_of(document, schema["items"]);
  if (schema.contains("properties")) {
    for (auto& property : schema["properties"]) property = type_of(document, property);
  }
  return schema;
}

TEST_F(ParseOutput, SpeaksTheLanguageOfTheApi) {
  std::ifstream file(LLMB_SOURCE_DIR "/server/api/openapi.json");
  const auto api = nlohmann::json::parse(file);
  const auto& schemas = api["components"]["schemas"];
  auto api_run = schemas["Run"]["properties"];
  api_run.update(schemas["RunDetails"]["allOf"][1]["properties"]);
  const auto parse_schema = schema();
  const auto& run = parse_schema["$defs"]["run"]["properties"];
  std::vector<std::string> only_here;
  std::vector<std::string> only_there;
  for (const auto& [name, property] : run.items()) {
    if (!api_run.contains(name)) {
      only_here.push_back(name);
    } else {
      EXPECT_EQ(type_of(parse_schema, property), type_of(api, api_run[name])) << name;
      const bool is_statistic = name.starts_with("step_time_s_") ||
                                name.starts_with("tflops_per_gpu_") || name == "window_is_whole";
      if (is_statistic) {
        EXPECT_EQ(property["description"], api_run[name]["description"]) << name;
      }
    }
  }
  for (const auto& [name, property] : api_run.items()) {
    if (!run.contains(name)) only_there.push_back(name);
  }
  EXPECT_THAT(only_here,
              UnorderedElementsAre("path", "checkpoints", "nccl", "ranks", "read_in_part",
                                   "insight", "run_metrics", "refused_lines", "samples"));
  EXPECT_THAT(only_there,
              UnorderedElementsAre("id", "root_id", "root", "relative_path", "generation",
                                   "is_superseded", "superseded_by", "revision", "first_seen_at",
                                   "grown_at", "vanished_at", "job", "profiles", "mfu",
                                   "speed_against_reference", "tokens_per_s_per_gpu", "copy_of"));
}

TEST_F(ParseOutput, ExplainsWhichLinesWereRefused) {
  const std::string bad = "Training epoch 0, iteration 9x/49 | lr: \x1b]0;\x07 0.1\n";
  folder_.write("t/d.out", "one\ntwo\n" + bad + bad + bad + "\r" + bad + nemo_log(49));
  const auto document = nlohmann::json::parse(parse({"--explain", "--format=json"}));
  EXPECT_THAT(schema_violations(schema(), document), IsEmpty());
  const auto& run = document.at("runs").at(3);
  EXPECT_EQ(run.at("lines_not_understood"), 4);
  ASSERT_EQ(run.at("refused_lines").size(), 1U);
  const auto& refused = run.at("refused_lines").at(0);
  EXPECT_EQ(refused.at("reason"), "iteration_not_read");
  EXPECT_EQ(refused.at("count"), 4);
  ASSERT_EQ(refused.at("samples").size(), 3U);
  EXPECT_EQ(refused.at("samples").at(0).at("line_number"), 3);
  EXPECT_EQ(refused.at("samples").at(2).at("line_number"), 5);
  EXPECT_EQ(refused.at("samples").at(0).at("line").get<std::string>().find('\x1b'),
            std::string::npos);
  EXPECT_TRUE(document.at("runs").at(0).at("refused_lines").empty());

  const std::string table = parse({"--explain"});
  EXPECT_THAT(table, HasSubstr("\nRefused lines of d:\n  4 iteration_not_read. The iteration"));
  EXPECT_THAT(table, HasSubstr("\n    line 3: Training epoch 0, iteration 9x/49 | lr: "));
  EXPECT_THAT(table, Not(HasSubstr("Refused lines of a")));
  EXPECT_THAT(parse({}), Not(HasSubstr("Refused lines")));
}

TEST_F(ParseOutput, JsonHoldsWhatTheLogSaysOfItsRanks) {
  folder_.write("t/d.out", nemo_log(49) +
                               "| MnRtt/Rnk: 700.5ms/1 | MxRtt/Rnk: 760.25ms/9\n"
                               "STRAGGLER DETECTION WARNING: Some GPUs performance dropped."
                               " Affected ranks: {StragglerId(rank=9, node='n-2')}\n");
  const auto document = nlohmann::json::parse(parse({"--format=json"}));
  EXPECT_THAT(schema_violations(schema(), document), IsEmpty());
  EXPECT_TRUE(document.at("runs").at(0).at("ranks").is_null());
  const auto& run = document.at("runs").at(3);
  EXPECT_EQ(run.at("rank_measure_count"), 3);
  const auto& measures = run.at("ranks").at("measures");
  ASSERT_EQ(measures.size(), 3U);
  EXPECT_EQ(measures.at(1).at("rank"), 9);
  EXPECT_EQ(measures.at(1).at("value_mean"), 0.76025);
  EXPECT_EQ(measures.at(2).at("node"), "n-2");
  EXPECT_TRUE(measures.at(2).at("value_mean").is_null());
}

TEST_F(ParseOutput, SaysWhereNoLineWasRefused) {
  EXPECT_THAT(parse({"--explain"}), HasSubstr("\nNo line was refused.\n"));
}

TEST_F(ParseOutput, JsonHoldsTheNumbers) {
  const auto document = nlohmann::json::parse(parse({"--format=json", "--samples"}));
  EXPECT_EQ(document.at("counts").at("logs"), 4);
  EXPECT_EQ(document.at("counts").at("complete"), 2);
  EXPECT_EQ(document.at("counts").at("failed"), 1);
  EXPECT_EQ(document.at("counts").at("no_data"), 1);
  EXPECT_EQ(document.at("counts").at("skipped"), 1);

  const auto& nemo = document.at("runs").at(0);
  EXPECT_EQ(nemo.at("dialect"), "nemo");
  EXPECT_EQ(nemo.at("step_count"), 50);
  EXPECT_EQ(nemo.at("step_time_s_count"), 34);
  EXPECT_EQ(nemo.at("step_time_source"), "printed");
  EXPECT_DOUBLE_EQ(nemo.at("step_time_s_mean"), 2.5);
  EXPECT_DOUBLE_EQ(nemo.at("step_time_s_stddev_population"), 0.5);
  EXPECT_DOUBLE_EQ(nemo.at("step_time_s_stddev_sample"), std::sqrt(34 * 0.25 / 33));
  ASSERT_EQ(nemo.at("samples").size(), 50U);
  EXPECT_EQ(nemo.at("samples").at(49).at("iteration"), 49);
  EXPECT_EQ(nemo.at("samples").at(49).at("step_time_s"), 3.0);
  EXPECT_EQ(nemo.at("samples").at(49).at("consumed_samples"), 12'800);
  EXPECT_FALSE(nemo.at("samples").at(0).contains("consumed_samples"));

  const auto& failed = document.at("runs").at(1);
  EXPECT_EQ(failed.at("status"), "failed");
  EXPECT_EQ(failed.at("events").at(0).at("kind"), "failure");
  EXPECT_EQ(failed.at("events").at(0).at("steps_before"), 31);

  const auto& megatron = document.at("runs").at(2);
  EXPECT_EQ(megatron.at("dialect"), "megatron_bridge");
  EXPECT_EQ(megatron.at("window"), "35-44");
  EXPECT_DOUBLE_EQ(megatron.at("step_time_s_mean"), 1.5);
  EXPECT_DOUBLE_EQ(megatron.at("tflops_per_gpu_mean"), 700);

  EXPECT_EQ(document.at("runs").at(3).at("step_time_s_count"), 0);
  EXPECT_TRUE(document.at("runs").at(3).at("step_time_s_mean").is_null());
  EXPECT_TRUE(document.at("runs").at(3).at("step_time_source").is_null());
}

TEST_F(ParseOutput, CsvParsesAndAgreesWithTheJson) {
  folder_.write("t/nsys_profile/profile_12_0_0.nsys-rep", "x");
  const auto document = nlohmann::json::parse(parse({"--format=json"}));
  const auto records = read_csv(parse({"--format=csv"}));
  ASSERT_EQ(records.size(), 5U);
  for (const auto& record : records) EXPECT_EQ(record.size(), records[0].size());
  for (std::size_t i = 1; i < records.size(); ++i) {
    const auto& run = document.at("runs").at(i - 1);
    for (std::size_t column = 0; column < records[0].size(); ++column) {
      const std::string& name = records[0][column];
      const auto& expected = run.at(name);
      const std::string& field = records[i][column];
      if (expected.is_null()) {
        EXPECT_EQ(field, "") << name;
      } else if (expected.is_number_float()) {
        EXPECT_EQ(std::stod(field), expected.get<double>()) << name;
      } else {
        std::string text = expected.is_string() ? expected.get<std::string>() : expected.dump();
        if (expected.is_array()) {
          text.clear();
          for (const auto& one : expected)
            text += (text.empty() ? "" : ", ") + one.get<std::string>();
        }
        // Control characters of a log's name leave as text.
        if (const auto at = text.find('\n'); at != std::string::npos) text.replace(at, 1, "\\x0a");
        EXPECT_EQ(field, text) << name;
      }
    }
    const auto marks = std::find(records[0].begin(), records[0].end(), "marks");
    ASSERT_NE(marks, records[0].end());
    EXPECT_THAT(records[i].at(static_cast<std::size_t>(marks - records[0].begin())),
                StartsWith("profiled"));
  }
}

// A script selects by the same names as of the API's runs.csv.
TEST_F(ParseOutput, CsvHasWhatRunsAreSelectedBy) {
  const auto records = read_csv(parse({"--format=csv", "--metrics"}));
  for (const char* const name :
       {"workload", "model_size", "dtype", "gpu_type", "gpu_count", "release", "cluster",
        "window_source", "failure_cause", "is_profiled", "is_traced", "has_run_all_steps"}) {
    EXPECT_THAT(records.at(0), testing::Contains(name));
  }
  EXPECT_EQ(records[0].back(), "speed_against_reference");
  for (const auto& record : records) EXPECT_EQ(record.size(), records[0].size());
}

}  // namespace
}  // namespace llmb::cli
