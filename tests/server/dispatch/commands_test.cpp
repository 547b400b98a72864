// Every command that the five recipe documents print, in its exact words and with its environment:
// what llmb-report makes of it. The catalog keeps the words, and a test there holds that none is
// left out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "server/dispatch/batch_script.h"
#include "server/dispatch/launch_document.h"
#include "server/dispatch/plan_submission.h"

namespace llmb::dispatch {
namespace {

using parser::Catalog;
using parser::PublishedCommand;
using testing::Contains;
using testing::HasSubstr;

// Words as a shell has them: quotes hold spaces together, and go.
std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words(1);
  char quote = 0;
  for (const char c : text) {
    if (quote == 0 && (c == '"' || c == '\'')) {
      quote = c;
    } else if (c == quote) {
      quote = 0;
    } else if (quote == 0 && c == ' ') {
      if (!words.back().empty()) words.emplace_back();
    } else {
      words.back() += c;
    }
  }
  return words;
}

// A command line: what stands before its program, and the rest.
struct Command {
  Environment variables;
  std::vector<std::string> words;
};

Command command_of(const std::string& text) {
  Command command;
  for (const std::string& word : words_of(text)) {
    const std::size_t equals = word.find('=');
    const bool is_variable = command.words.empty() && equals != std::string::npos && equals > 0;
    if (is_variable) {
      command.variables[word.substr(0, equals)] = word.substr(equals + 1);
    } else {
      command.words.push_back(word);
    }
  }
  return command;
}

// `llmb-run single` and `llmb-report submit` take the same flags.
Submission submission_of(const Command& command) {
  Submission submission;
  const auto after = [&](const std::string& flag) {
    const auto found = std::find(command.words.begin(), command.words.end(), flag);
    return found == command.words.end() ? std::string() : *(found + 1);
  };
  submission.workload = after("-w");
  submission.model_size = after("-s");
  submission.dtype = after("--dtype");
  if (const std::string scale = after("--scale"); !scale.empty()) {
    submission.scale = std::stoll(scale);
  }
  submission.profile =
      std::find(command.words.begin(), command.words.end(), "-p") != command.words.end();
  return submission;
}

ClusterSettings cluster_of(const Command& command, const std::string& gpu_type) {
  ClusterSettings settings;
  settings.name = "eos";
  settings.workload_folder = "/lustre/workloads/pretrain";
  settings.gpu_type = gpu_type;
  settings.launch_environment = command.variables;
  settings.slurm = slurm_parameters_of(command.variables).value().parameters;
  return settings;
}

// A launch.sh has its workload from its folder; that of 2024 is asked for by its document's name.
parser::Result<Plan> plan_of(const std::string& document, const std::string& workload,
                             const std::string& text, const std::string& gpu_type) {
  const Command command = command_of(text);
  Submission submission = submission_of(command);
  if (submission.workload.empty()) submission.workload = workload;
  if (document == kBatchScriptDocument) submission.document = document;
  return plan_submission(submission, cluster_of(command, gpu_type), parser::embedded_catalog(),
                         {"llmb-step-runner 1.0", {"cpu", "cuda"}, ""});
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what << " in " << text;
  return at == std::string::npos ? text : text.replace(at, what.size(), by);
}

bool launches(const PublishedCommand& command) {
  return command.text.find("launch.sh") != std::string::npos ||
         command.text.find("llmb-run") != std::string::npos;
}

TEST(DocumentCommands, BecomeTheJobsThatTheyAskFor) {
  const Catalog& catalog = parser::embedded_catalog();
  int walked = 0;
  for (const PublishedCommand& command : catalog.commands) {
    if (!command.gpu_count) continue;
    SCOPED_TRACE(command.document + ": " + command.text);
    // llmb-run takes the GPU type from its cluster.
    const auto plan = plan_of(command.document, command.workload, command.text,
                              command.gpu_type.empty() ? "gb200" : command.gpu_type);
    // llama3.1: "JOB_TOTAL_GPUS=512 GPU_TYPE=h100" is 405b, which its own table has at 1024 only.
    if (command.line == 252 && command.document == "llama3.1-25.10") {
      ASSERT_FALSE(plan);
      EXPECT_THAT(plan.error().message, HasSubstr("there are: 1024. A proxy may have any scale"));
      EXPECT_THAT(plan.error().message, HasSubstr("--proxy"));
      continue;
    }
    ASSERT_TRUE(plan) << plan.error().message;
    EXPECT_EQ(plan->document, command.document);
    EXPECT_EQ(plan->submission.model_size, command.model_size);
    EXPECT_EQ(plan->submission.dtype, command.dtype);
    EXPECT_EQ(plan->submission.scale, *command.gpu_count);
    if (!command.gpu_type.empty()) {
      EXPECT_EQ(plan->submission.gpu_type, command.gpu_type);
    }
    const Environment variables = command_of(command.text).variables;
    EXPECT_EQ(plan->submission.profile,
              variables.contains("ENABLE_PROFILE") || command.text.ends_with(" -p"));
    EXPECT_EQ(plan->submission.nccl_trace, variables.contains("ENABLE_NCCLTRACE"));
    EXPECT_EQ(plan->submission.gpu_metrics, variables.contains("ENABLE_GPU_METRICS"));
    EXPECT_THAT(plan->notes, testing::IsEmpty()) << "each of its variables has its effect";
    ++walked;
  }
  EXPECT_GE(walked, 25);
}

// llama3.1, SLURM Node Specification Examples.
TEST(DocumentCommands, HandTheirSlurmParametersOn) {
  const Catalog& catalog = parser::embedded_catalog();
  std::set<std::string> seen;
  for (const PublishedCommand& command : catalog.commands) {
    if (command.text.find("ADDITIONAL_SLURM_PARAMS=\"") == std::string::npos) continue;
    const auto plan = plan_of(command.document, command.workload, command.text, "");
    if (!plan) continue;  // the one that no row has
    for (const std::string& option : sbatch_options(plan->slurm)) seen.insert(option);
  }
  EXPECT_THAT(seen, testing::IsSupersetOf(
                        {"--nodelist=node001,node002", "--constraint=gpu&memory", "--exclusive"}));
  const auto reserved = plan_of("llama3.1-25.10", "pretrain_llama3.1",
                                "ADDITIONAL_SLURM_PARAMS=\"reservation=my_reservation\" "
                                "JOB_TOTAL_GPUS=1024 GPU_TYPE=h100 ./launch.sh",
                                "");
  ASSERT_TRUE(reserved) << reserved.error().message;
  EXPECT_THAT(sbatch_options(reserved->slurm), Contains("--reservation=my_reservation"));
}

// The templates, with every choice that they leave.
TEST(DocumentCommands, TakeEveryValueOfTheirTemplates) {
  const Catalog& catalog = parser::embedded_catalog();
  int walked = 0;
  const auto walk = [&](const PublishedCommand& command, const std::string& text) {
    const auto plan = plan_of(command.document, command.workload, text, "");
    EXPECT_TRUE(plan) << text << ": " << plan.error().message;
    if (plan) {
      EXPECT_EQ(plan->document, command.document) << text;
    }
    ++walked;
  };
  for (const PublishedCommand& command : catalog.commands) {
    if (command.gpu_count || !launches(command)) continue;
    SCOPED_TRACE(command.document + ": " + command.text);
    if (command.document == "nemotron4-25.04") {
      const bool is_340b_too = command.text.find("340b") != std::string::npos;
      ASSERT_TRUE(is_340b_too);
      const bool has_slash = command.text.find("<15b/340b>") != std::string::npos;
      for (const char* const dtype : {"fp8", "bf16"}) {
        for (const auto& [size, gpus] :
             {std::pair{"15b", "64"}, {"15b", "2048"}, {"340b", "512"}}) {
          for (const char* const per_node : {"2", "8"}) {
            std::string text = replaced(command.text, "<fp8,bf16>", dtype);
            text = replaced(text, has_slash ? "<15b/340b>" : "<15b,340b>", size);
            text = replaced(text, "<16,..,2048>", gpus);
            text = replaced(text, has_slash ? "<2,8>" : "<2,4,8>", per_node);
            if (text.find('<') != std::string::npos) {
              text = replaced(text, "<your_path_to_checkpoint_directory>", "/lustre/checkpoint");
            }
            walk(command, text);
          }
        }
      }
    } else if (command.document == kBatchScriptDocument) {
      // "for 256 GPUs scale, NUM_NODES should be 256 / 8 = 32": sbatch's -N, and -A and -p.
      for (const char* const dtype : {"fp8", "bf16"}) {
        const Command words = command_of(replaced(command.text, "<fp8/bf16>", dtype));
        EXPECT_THAT(words.words, Contains("${NUM_NODES}"));
        walk(command, std::string("JOB_TOTAL_GPUS=256 GPU_TYPE=h100 SLURM_ACCOUNT=a "
                                  "SLURM_PARTITION=batch DTYPE=") +
                          dtype + " ./launch.sh");
      }
    } else if (command.document == "llama3.1-25.10") {
      for (const char* const type : {"gb300", "gb200", "b200"}) {
        std::string text = replaced(command.text, "<number>", "128");
        text = replaced(text, "<type>", type);
        walk(command, replaced(text, "[ADDITIONAL_SLURM_PARAMS=<params>]",
                               "ADDITIONAL_SLURM_PARAMS=\"exclusive\""));
      }
    } else {
      const std::string size = command.workload == "pretrain_grok1" ? "314b" : "400b";
      for (const auto& [type, gpus] :
           {std::pair{"gb200", "128"}, {"gb200", "512"}, {"h100", "512"}}) {
        std::string text = replaced(command.text, "<number>", gpus);
        text = replaced(text, "[DTYPE=<precision>]", "DTYPE=fp8");
        text = replaced(text, "[MODEL_SIZE=<size>]", "MODEL_SIZE=" + size);
        walk(command, replaced(text, "[GPU_TYPE=<type>]", std::string("GPU_TYPE=") + type));
      }
    }
  }
  EXPECT_GE(walked, 47);
}

// grok1_h100_2024: "NUM_NODES should be 256 / 8 = 32".
TEST(DocumentCommands, CountNodesAsTheDocumentDoes) {
  const auto plan =
      plan_of(std::string(kBatchScriptDocument), "pretrain_grok1",
              "JOB_TOTAL_GPUS=256 GPU_TYPE=h100 SLURM_ACCOUNT=a SLURM_PARTITION=batch "
              "SLURM_GPUS_PER_NODE=null DTYPE=bf16 ./launch.sh",
              "");
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->nodes, 32);
  EXPECT_EQ(plan->slurm.at("account"), "a");
  EXPECT_EQ(plan->slurm.at("partition"), "batch");
  EXPECT_FALSE(plan->slurm.contains("gpus-per-node")) << "\"this is usually 8 or null\"";
}

}  // namespace
}  // namespace llmb::dispatch
