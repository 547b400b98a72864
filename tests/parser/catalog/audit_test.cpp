// The audit of the five documents against its golden file, which holds every finding with its
// explanation, and of figures that are right, which must raise no finding.
#include "parser/catalog/audit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

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
  // Examples of other runs and of another document, beside the results of their configuration.
  EXPECT_TRUE(has_finding(audit, "grok1-25.05", 74, "6.631", "not_of_the_table"));
  EXPECT_TRUE(has_finding(audit, "grok1-25.05", 77, "26.3", "follows_step_time"));
  EXPECT_TRUE(has_finding(audit, "grok1-25.05", 51, "4096", "no_such_batch"));
  EXPECT_TRUE(has_finding(audit, "grok1-24.11", 30, "22", "not_of_the_table"));
  EXPECT_TRUE(has_finding(audit, "nemotron4-25.04", 43, "389371", "follows_step_time"));
  // "This workload only supports GB200 GPUs", beside a table and results of 512 H100.
  EXPECT_TRUE(has_finding(audit, "grok1-25.05", 200, "gb200", "text_against_table"));
}

TEST(Audit, HoldsSampleOutputsAgainstThemselvesAndTheTables) {
  const Audit audit = audit_all(embedded_catalog());
  // What NeMo 2 logs is by another formula than the documents'; what Megatron-Bridge printed for
  // Llama 3.1 is of other steps than its step time.
  EXPECT_TRUE(has_finding(audit, "grok1-25.05", 43, "1192.94", "other_flops_formula"));
  EXPECT_TRUE(has_finding(audit, "llama4-25.05", 33, "527.78", "other_flops_formula"));
  EXPECT_TRUE(has_finding(audit, "llama3.1-25.10", 86, "1636.80", "unexplained"));
  EXPECT_TRUE(has_finding(audit, "llama3.1-25.10", 86, "20.89", "other_steps"));
  EXPECT_TRUE(has_finding(audit, "llama4-25.05", 33, "3.685", "not_of_the_table"));
  EXPECT_TRUE(has_finding(audit, "nemotron4-25.04", 35, "2.693", "not_of_the_table"));
  // The spreads of the two NeMo lines are those of their step times, and the VP of the name is the
  // right one.
  for (const AuditFinding& finding : audit.findings) {
    const bool is_right = finding.quantity == "tflops_per_gpu_std" ||
                          (finding.quantity == "virtual_pipeline" && finding.line == 33);
    EXPECT_FALSE(is_right && finding.document != "llama3.1-25.10") << finding.document;
  }
}

// Audited with rows and lines that a --catalog file adds; the findings of line 998 remain.
Audit audit_of_file(const std::string& sections) {
  const std::string text = R"({"schema_version": 1, )" + sections + "}";
  const auto catalog = load_catalog_over_embedded({"my.json", text});
  if (!catalog) throw std::invalid_argument(catalog.error().message);
  Audit audit = audit_all(*catalog);
  std::erase_if(audit.findings, [](const AuditFinding& found) { return found.line != 998; });
  return audit;
}

Audit audit_of_sample(const std::string& fields) {
  return audit_of_file(R"("sample_outputs": [{"document": "grok1-25.05", "line": 998,
    "text": "mine", "model_size": "314b", "dtype": "bf16", "gpu_type": "gb200", "gpu_count": 256,
    "configuration_source": "mine", )" +
                       fields + "}]");
}

TEST(Audit, TakesASampleThatFollows) {
  // 512 * 4.274e15 / 7.39 / 256, in milliseconds and in seconds.
  EXPECT_TRUE(
      audit_of_sample(R"("step_time_s": "7.39", "tflops_per_gpu": "1156.7")").findings.empty());
  EXPECT_TRUE(audit_of_sample(R"("step_time_ms": "7390", "step_time_ms_std": "40.0",
    "tflops_per_gpu": "1156.7", "tflops_per_gpu_std": "6.26", "tensor_parallel": 4,
    "expert_parallel": 8, "global_batch_size": 512, "consumed_samples": "25600", "step_count": 50)")
                  .findings.empty());
}

TEST(Audit, FindsASampleOfAnotherLayoutBatchOrFormula) {
  const Audit layout = audit_of_sample(R"("step_time_s": "7.39", "tensor_parallel": 8)");
  EXPECT_TRUE(has_finding(layout, "grok1-25.05", 998, "8", "other_layout"));
  const Audit batch = audit_of_sample(R"("consumed_samples": "25000", "step_count": 50)");
  EXPECT_TRUE(has_finding(batch, "grok1-25.05", 998, "25000", "no_such_batch"));
  const Audit own_batch = audit_of_sample(R"("consumed_samples": "51200", "step_count": 50,
    "global_batch_size": 512)");
  EXPECT_TRUE(has_finding(own_batch, "grok1-25.05", 998, "51200", "batch"));
  // A formula that does not give the figure explains nothing.
  const Audit formula = audit_of_sample(R"("step_time_s": "7.39", "tflops_per_gpu": "1300",
    "logged_flops": {"flops_formula": "recipe-full-attention", "vocabulary_size": 32000,
    "source": "mine"})");
  EXPECT_TRUE(has_finding(formula, "grok1-25.05", 998, "1300", "unexplained"));
}

// Llama 3.1 405B in the document of Grok-1, whose family has no such size: counted as its row says.
TEST(Audit, CountsASampleByTheWorkloadOfItsRow) {
  const auto with_rate = [](const std::string& tflops_per_gpu) {
    return audit_of_file(R"("recipes": [{"workload": "pretrain_llama3.1", "model_size": "405b",
   "dtypes": ["fp8"], "gpu_type": "gb200", "gpu_count_min": 64, "gpu_count_max": 64,
   "sequence_length": 8192, "layer_count": 126, "tensor_parallel": 2, "pipeline_parallel": 1,
   "context_parallel": 1, "data_parallel": 32, "micro_batch_size": 1, "global_batch_size": 32,
   "gradient_accumulation": 1, "document": "grok1-25.05", "line": 999}],
  "sample_outputs": [{"document": "grok1-25.05", "line": 998, "text": "mine",
   "model_size": "405b", "dtype": "fp8", "gpu_type": "gb200", "gpu_count": 64,
   "configuration_source": "mine", "step_time_s": "6.000", "tflops_per_gpu": ")" +
                         tflops_per_gpu + "\"}]");
  };
  const Audit wrong = with_rate("500");
  ASSERT_EQ(wrong.findings.size(), 1U);
  const ModelShape& shape = embedded_catalog().model("llama3.1", "405b")->shape;
  const double rate =
      32 * model_flops_per_sequence(shape, FlopsFormula::recipe).total() / 6.0 / 64 / 1e12;
  EXPECT_NEAR(*wrong.findings[0].recomputed, rate, 1e-6 * rate);
  EXPECT_TRUE(with_rate(std::to_string(std::lround(rate))).findings.empty());
}

// The workload of a result tells its row from another one's of the same size.
TEST(Audit, TakesTheRowOfTheResultsWorkload) {
  const auto catalog = load_catalog_over_embedded({"my.json", R"({"schema_version": 1,
  "references": [{"workload": "pretrain_nemotron4", "model_size": "314b", "dtype": "fp8",
   "gpu_type": "gb200", "gpu_count": 128, "step_time_s": "6.631", "document": "grok1-25.05",
   "line": 998, "column": 1}]})"});
  ASSERT_TRUE(catalog) << catalog.error().message;
  EXPECT_FALSE(catalog->references.back().has_recipe);
}

std::string batch_example(const std::string& printed) {
  return R"("worked_examples": [{"document": "llama3.1-25.10", "line": 998,
   "quantity": "global_batch_size", "text": "mine", "printed": ")" +
         printed + "\"}]";
}

TEST(Audit, HoldsBatchesAgainstTheFormulasOfRanges) {
  for (const char* const batch : {"64", "512", "130", "2048"}) {
    EXPECT_TRUE(audit_of_file(batch_example(batch)).findings.empty()) << batch;
  }
  // 513 would be 1026 GPUs of GPUs/2, and no whole number of them of GPUs*2 and GPUs*16.
  for (const char* const batch : {"63", "513", "2049", "1e30"}) {
    const Audit audit = audit_of_file(batch_example(batch));
    ASSERT_EQ(audit.findings.size(), 1U) << batch;
    EXPECT_THAT(audit.findings[0].explanation,
                testing::HasSubstr("its rows have 512, GPUs*16 of 8-128, GPUs*2 of 64-1024, GPUs*2 "
                                   "of 64-1024 by 32, GPUs*2 of 64-512, GPUs/2 of 128-1024, GPUs/2 "
                                   "of 128-1024 by 64, GPUs/2 of 128-512: the example"));
  }
  const Audit sample = audit_of_file(R"("sample_outputs": [{"document": "llama3.1-25.10",
   "line": 998, "text": "mine", "consumed_samples": "3150", "step_count": 50}])");
  ASSERT_EQ(sample.findings.size(), 1U);
  EXPECT_THAT(sample.findings[0].explanation,
              testing::HasSubstr("It is 63 sequences a step, and the rows of the document have "
                                 "batches of 512, GPUs*16 of 8-128, "));
}

// 200 GPUs are within 128-1024, and no whole number of replicas of 64.
TEST(Audit, FindsACommandBetweenTheScalesOfARange) {
  const auto with_scale = [](const std::string& gpu_count) {
    return audit_of_file(R"("commands": [{"document": "llama3.1-25.10", "line": 998,
   "text": "mine", "workload": "pretrain_llama3.1", "model_size": "405b", "dtype": "fp8",
   "gpu_type": "b200", "gpu_count": )" +
                         gpu_count + "}]");
  };
  EXPECT_TRUE(with_scale("192").findings.empty());
  const Audit between = with_scale("200");
  ASSERT_EQ(between.findings.size(), 1U);
  EXPECT_THAT(between.findings[0].explanation, testing::HasSubstr("128 to 1024 by 64 b200 only"));
}

// 27 of Grok-1's FP8 results and 24 of Nemotron-4's stand in other releases with an MFU that the
// documents do not print; tables that repeat one are one. All follow from what their READMEs state.
TEST(Audit, ChecksTheMfuThatOtherReleasesPrint) {
  std::int64_t restated = 0;
  for (const Reference& reference : embedded_catalog().references) {
    restated += std::ssize(reference.restated_mfu);
  }
  EXPECT_EQ(restated, 9 + 24);
  const auto checked_with = [](const std::string& mfu, const std::string& release) {
    const std::string text = R"({"schema_version": 1, "references": [
  {"workload": "pretrain_nemotron4", "model_size": "15b", "dtype": "bf16", "gpu_type": "h100",
   "gpu_count": 16, "step_time_s": "2.66", "document": "nemotron4-25.04", "line": 998, "column": 1,
   "restated_mfu": [{"mfu_percent": ")" +
                             mfu + R"(", "release": ")" + release + R"(", "source": "mine"}]}]})";
    const auto catalog = load_catalog_over_embedded({"my.json", text});
    if (!catalog) throw std::invalid_argument(catalog.error().message);
    return audit_catalog(*catalog, [](const std::string& document) { return document == "mine"; });
  };
  EXPECT_EQ(checked_with("58.54", "25.04.01").findings.size(), 0U);
  EXPECT_EQ(checked_with("66.07", "25.04").findings.size(), 0U);
  const Audit wrong = checked_with("66.07", "25.04.01");
  ASSERT_EQ(wrong.findings.size(), 1U);
  EXPECT_TRUE(wrong.findings[0].is_of_other_release);
  EXPECT_NEAR(*wrong.findings[0].recomputed, 58.54, 0.01);
  const Audit unknown = checked_with("58.54", "26.02");
  ASSERT_EQ(unknown.unchecked.size(), 1U);
  EXPECT_THAT(unknown.unchecked[0].reason, testing::HasSubstr("26.02"));
}

TEST(Audit, TellsTheDocumentsFromOtherReleases) {
  const Catalog& catalog = embedded_catalog();
  const Audit audit = audit_all(catalog);
  for (const AuditFinding& finding : audit.findings) {
    EXPECT_EQ(finding.is_of_other_release, !is_recipe_document(catalog, finding.document))
        << finding.document;
  }
  EXPECT_EQ(audit.documents.figures_checked + audit.other_releases.figures_checked,
            audit.figures_checked);
  EXPECT_EQ(audit.documents.findings + audit.other_releases.findings, std::ssize(audit.findings));
  EXPECT_EQ(audit.documents.unchecked, 0);
  EXPECT_GT(audit.other_releases.findings, 0);
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
class SourceDocuments : public testing::Test {
 protected:
  void SetUp() override {
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
    for (const auto& [id, name] : names) text_[id] = lines_of(folder / name);
  }

  std::string line(const std::string& document, std::int64_t number) const {
    return text_.at(document).at(static_cast<std::size_t>(number - 1));
  }

  std::map<std::string, std::vector<std::string>> text_;
  const Catalog& catalog_ = embedded_catalog();
};

TEST_F(SourceDocuments, HaveTheExamplesAndSampleOutputs) {
  for (const WorkedExample& example : catalog_.worked_examples) {
    const std::string stands = line(example.document, example.line);
    EXPECT_THAT(stands, testing::HasSubstr(example.text));
    EXPECT_THAT(stands, testing::HasSubstr(example.printed));
  }
  for (const SampleOutput& sample : catalog_.sample_outputs) {
    const std::string stands = line(sample.document, sample.line);
    EXPECT_THAT(stands, testing::HasSubstr(sample.text));
    for (const auto& figure : {sample.step_time_s, sample.step_time_s_std, sample.tflops_per_gpu,
                               sample.tflops_per_gpu_std, sample.consumed_samples}) {
      if (!figure) continue;
      EXPECT_THAT(stands, testing::HasSubstr(figure->text));
    }
  }
}

TEST_F(SourceDocuments, HaveTheCommandsAndNoOthers) {
  std::set<std::pair<std::string, std::int64_t>> kept;
  for (const PublishedCommand& command : catalog_.commands) {
    EXPECT_THAT(line(command.document, command.line), testing::HasSubstr(command.text));
    kept.insert({command.document, command.line});
  }
  for (const auto& [id, lines] : text_) {
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
}

TEST_F(SourceDocuments, HaveTheRowsAndResults) {
  for (const Recipe& recipe : catalog_.recipes) {
    const std::string stands = line(recipe.document, recipe.line);
    EXPECT_THAT(stands, testing::HasSubstr(std::to_string(recipe.gpu_count_min)));
    EXPECT_THAT(stands, testing::HasSubstr(to_string(recipe.global_batch_size)));
  }
  for (const Reference& reference : catalog_.references) {
    if (reference.document.empty()) continue;
    std::string table;
    for (std::int64_t i = 0; i <= 5 && static_cast<std::size_t>(reference.line + i) <=
                                           text_.at(reference.document).size();
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
