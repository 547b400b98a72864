// The audit of the five documents against its golden file, which holds every finding with its
// explanation, and of figures that are right, which must raise no finding.
#include "parser/catalog/audit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "parser/catalog/catalog_loader.h"

namespace llmb::parser {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kGolden = LLMB_SOURCE_DIR "/tests/parser/catalog/audit_findings.golden.json";

Json finding_json(const AuditFinding& finding) {
  const auto number = [](const std::optional<double>& value) {
    return value ? Json(*value) : Json(nullptr);
  };
  return {{"document", finding.document},
          {"line", finding.line},
          {"column", finding.column},
          {"row", finding.row},
          {"quantity", finding.quantity},
          {"printed", finding.printed},
          {"recomputed", number(finding.recomputed)},
          {"relative_difference", number(finding.relative_difference)},
          {"severity", severity_name(finding.severity)},
          {"slip", finding.slip},
          {"explanation", finding.explanation}};
}

Audit audit_all(const Catalog& catalog) {
  return audit_catalog(catalog, [](const std::string&) { return true; });
}

// Numbers are compared with a tolerance: the last bits are the machine's.
bool is_same(const Json& a, const Json& b) {
  if (a.is_number() && b.is_number()) {
    const double x = a.get<double>();
    const double y = b.get<double>();
    return std::abs(x - y) <= 1e-9 * std::max({1e-3, std::abs(x), std::abs(y)});
  }
  return a == b;
}

TEST(Audit, FindsWhatTheGoldenFileHolds) {
  const Audit audit = audit_all(embedded_catalog());
  Json findings = Json::array();
  for (const AuditFinding& finding : audit.findings) findings.push_back(finding_json(finding));
  if (std::getenv("LLMB_WRITE_GOLDEN") != nullptr) {
    std::ofstream(kGolden) << findings.dump(1) << '\n';
  }
  std::ifstream file(kGolden);
  const Json golden = Json::parse(file);
  ASSERT_EQ(findings.size(), golden.size());
  for (std::size_t i = 0; i < golden.size(); ++i) {
    for (const auto& [key, value] : golden[i].items()) {
      EXPECT_TRUE(is_same(findings[i][key], value)) << key << " is " << findings[i][key] << " in\n"
                                                    << golden[i].dump(1);
    }
    EXPECT_GT(findings[i]["explanation"].get<std::string>().size(), 20U);
  }
}

bool has_finding(const Audit& audit, const std::string& document, std::int64_t line,
                 const std::string& printed, const std::string& slip) {
  return std::any_of(audit.findings.begin(), audit.findings.end(), [&](const AuditFinding& found) {
    return found.document == document && found.line == line && found.printed == printed &&
           found.slip == slip;
  });
}

TEST(Audit, FindsTheKnownErrors) {
  const Audit audit = audit_all(embedded_catalog());
  // Grok-1 GB200, 512 GPUs: throughputs of half the batch, and the days that follow from them.
  EXPECT_TRUE(has_finding(audit, "grok1-25.05", 82, "572679", "halved"));
  EXPECT_TRUE(has_finding(audit, "grok1-25.05", 82, "20.2", "follows_throughput"));
  EXPECT_TRUE(has_finding(audit, "grok1-25.05", 89, "807684", "halved"));
  EXPECT_TRUE(has_finding(audit, "grok1-25.05", 89, "14.33", "follows_throughput"));
  // "peak FLOPS for GB200 = 49 TFLOPS".
  EXPECT_TRUE(has_finding(audit, "grok1-25.05", 73, "49", "unit_slip"));
  // Maverick: BF16 against the FP8 peak, in the example and in the table; 989 TFLOPS is an H100's.
  EXPECT_TRUE(has_finding(audit, "llama4-25.05", 63, "18.71", "wrong_dtype_peak"));
  EXPECT_TRUE(has_finding(audit, "llama4-25.05", 69, "18.71", "wrong_dtype_peak"));
  EXPECT_TRUE(has_finding(audit, "llama4-25.05", 59, "989", "wrong_gpu_peak"));
  // The notes' intermediate figures.
  EXPECT_TRUE(has_finding(audit, "llama4-25.05", 340, "50665495805952", "arithmetic"));
  EXPECT_TRUE(has_finding(audit, "llama4-25.05", 342, "678,702,806,466,560", "arithmetic"));
  EXPECT_TRUE(has_finding(audit, "llama4-25.05", 343, "891792891914752", "digit_slip"));
  EXPECT_TRUE(has_finding(audit, "nemotron4-25.04", 332, "38666279738", "arithmetic"));
  // VP 12 without a pipeline; "steps 34-44" for the window 35-44; GA of the small Grok proxies.
  EXPECT_TRUE(has_finding(audit, "llama4-25.05", 19, "12", "pipeline_without_stages"));
  EXPECT_TRUE(has_finding(audit, "llama3.1-25.10", 114, "34-44", "other_window"));
  EXPECT_TRUE(has_finding(audit, "grok1-24.11", 4, "128", "batch"));
  // "JOB_TOTAL_GPUS=512 GPU_TYPE=h100 ./launch.sh" with the default size 405b, whose H100 row is of
  // 1024 GPUs; and no other command of any document.
  EXPECT_TRUE(has_finding(audit, "llama3.1-25.10", 252, "512", "no_such_row"));
  EXPECT_EQ(std::count_if(audit.findings.begin(), audit.findings.end(),
                          [](const AuditFinding& found) { return found.slip == "no_such_row"; }),
            1);
  // Nemotron-4 340B: the column VP is NA, and the release ran VP 12.
  for (const int line : {21, 22, 23, 24}) {
    EXPECT_TRUE(has_finding(audit, "nemotron4-25.04", line, "NA", "table_against_recipe"));
  }
  // "This workload only supports GB200 GPUs", beside a table and results of 512 H100.
  EXPECT_TRUE(has_finding(audit, "grok1-25.05", 200, "gb200", "text_against_table"));
}

TEST(Audit, TellsTheDocumentsFromLaterReleases) {
  const Catalog& catalog = embedded_catalog();
  const Audit audit = audit_all(catalog);
  for (const AuditFinding& finding : audit.findings) {
    EXPECT_EQ(finding.is_of_later_release, !is_recipe_document(catalog, finding.document))
        << finding.document;
  }
  EXPECT_EQ(audit.documents.figures_checked + audit.later_releases.figures_checked,
            audit.figures_checked);
  EXPECT_EQ(audit.documents.findings + audit.later_releases.findings, std::ssize(audit.findings));
  EXPECT_EQ(audit.documents.unchecked, 0);
  EXPECT_GT(audit.later_releases.findings, 0);
  EXPECT_FALSE(is_recipe_document(catalog, "nemotron4-25.07"));
}

// Every table figure of Nemotron-4 and of Grok-1 2024 follows from its row, rounded or cut off.
TEST(Audit, RaisesNoAlarmOnRounding) {
  const Audit audit = audit_all(embedded_catalog());
  for (const AuditFinding& finding : audit.findings) {
    const bool is_clean =
        finding.document == "nemotron4-25.04" || finding.document == "grok1-24.11";
    EXPECT_FALSE(is_clean && finding.column > 0) << finding.row << " " << finding.quantity;
  }
  EXPECT_GE(audit.figures_checked, 600);
  for (const UncheckedFigure& figure : audit.unchecked) {
    EXPECT_EQ(embedded_catalog().document(figure.document), nullptr) << figure.row;
    EXPECT_FALSE(figure.reason.empty());
  }
}

TEST(Audit, FindsDaysOfAProxyAndLayoutsThatDoNotFit) {
  const auto catalog = load_catalog_over_embedded({"my.json", R"({"schema_version": 1,
  "recipes": [{"workload": "pretrain_grok1", "model_size": "314b", "dtypes": ["bf16"],
   "gpu_type": "h100", "gpu_count_min": 24, "gpu_count_max": 24, "sequence_length": 4096,
   "layer_count": 4, "tensor_parallel": 4, "pipeline_parallel": 1, "context_parallel": 1,
   "data_parallel": 4, "micro_batch_size": 1, "global_batch_size": 1024,
   "gradient_accumulation": 256, "document": "grok1-25.05", "line": 999}],
  "references": [{"workload": "pretrain_grok1", "model_size": "314b", "dtype": "bf16",
   "gpu_type": "h100", "gpu_count": 24, "step_time_s": "10.00", "tokens_per_s": "419430",
   "days_to_train_1t": "27.59", "document": "grok1-25.05", "line": 998, "column": 1}]})"});
  ASSERT_TRUE(catalog) << catalog.error().message;
  const Audit audit = audit_all(*catalog);
  EXPECT_TRUE(has_finding(audit, "grok1-25.05", 999, "24", "layout"));
  EXPECT_TRUE(has_finding(audit, "grok1-25.05", 998, "27.59", "proxy_days"));
  EXPECT_FALSE(has_finding(audit, "grok1-25.05", 998, "419430", "other_step_time"));
}

std::vector<std::string> lines_of(const std::filesystem::path& file) {
  std::ifstream input(file);
  std::vector<std::string> lines;
  for (std::string line; std::getline(input, line);) lines.push_back(line);
  return lines;
}

// The catalog's rows and examples against the documents themselves, where they are at hand.
TEST(Audit, QuotesWhatStandsInTheDocuments) {
  const char* const variable = std::getenv("LLMB_SHARED_DIR");
  const std::filesystem::path folder =
      std::filesystem::path(variable != nullptr ? variable : LLMB_SOURCE_DIR "/../shared") /
      "source-documents";
  if (!std::filesystem::is_directory(folder)) {
    GTEST_SKIP() << "the source documents are not at " << folder;
  }
  const std::map<std::string, std::string> names = {{"grok1-24.11", "grok1_h100_2024.md"},
                                                    {"grok1-25.05", "grok1_gb200_h100.md"},
                                                    {"llama3.1-25.10", "llama3.1.md"},
                                                    {"llama4-25.05", "llama4_maverick.md"},
                                                    {"nemotron4-25.04", "nemotron4.md"}};
  std::map<std::string, std::vector<std::string>> text;
  for (const auto& [id, name] : names) text[id] = lines_of(folder / name);
  const auto line = [&](const std::string& document, std::int64_t number) {
    return text.at(document).at(static_cast<std::size_t>(number - 1));
  };
  const Catalog& catalog = embedded_catalog();
  for (const WorkedExample& example : catalog.worked_examples) {
    const std::string stands = line(example.document, example.line);
    EXPECT_THAT(stands, testing::HasSubstr(example.text));
    EXPECT_THAT(stands, testing::HasSubstr(example.printed));
  }
  for (const PublishedCommand& command : catalog.commands) {
    EXPECT_THAT(line(command.document, command.line), testing::HasSubstr(command.text));
  }
  // No command is forgotten.
  std::set<std::pair<std::string, std::int64_t>> kept;
  for (const PublishedCommand& command : catalog.commands) {
    kept.insert({command.document, command.line});
  }
  for (const auto& [id, lines] : text) {
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const std::string& stands = lines[i];
      const bool is_command = stands.find("GPUS=") != std::string::npos ||
                              stands.find("llmb-run single") == 0 ||
                              (stands.find("./launch.sh") != std::string::npos &&
                               stands.find('`') == std::string::npos);
      if (!is_command) continue;
      EXPECT_TRUE(kept.contains({id, static_cast<std::int64_t>(i) + 1})) << id << ": " << stands;
    }
  }
  for (const Recipe& recipe : catalog.recipes) {
    const std::string stands = line(recipe.document, recipe.line);
    EXPECT_THAT(stands, testing::HasSubstr(std::to_string(recipe.gpu_count_min)));
    EXPECT_THAT(stands, testing::HasSubstr(to_string(recipe.global_batch_size)));
  }
  for (const Reference& reference : catalog.references) {
    if (reference.document.empty()) continue;
    std::string table;
    for (std::int64_t i = 0; i <= 5 && static_cast<std::size_t>(reference.line + i) <=
                                           text.at(reference.document).size();
         ++i) {
      table += line(reference.document, reference.line + i) + "\n";
    }
    for (const auto& figure : {reference.step_time_s, reference.tokens_per_s, reference.mfu_percent,
                               reference.days_to_train_1t}) {
      if (!figure) continue;
      EXPECT_THAT(table, testing::HasSubstr(figure->text));
    }
  }
}

}  // namespace
}  // namespace llmb::parser
