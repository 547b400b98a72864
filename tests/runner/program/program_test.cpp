// llmb-step-runner as a user starts it, and llmb-report on the log that it leaves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "runner/parallel/socket.h"
#include "runner/plan/options.h"
#include "tests/temporary_folder.h"

namespace llmb::runner {
namespace {

using nlohmann::json;
using testing::HasSubstr;

const std::string kRunner = LLMB_BINARY_DIR "/bin/llmb-step-runner";
const std::string kReport = LLMB_BINARY_DIR "/bin/llmb-report";
const std::string kTiny =
    " -w pretrain_llama3.1 -s 8b --backend cpu --dtype fp32 --num-layers 2 --hidden-size 32"
    " --num-attention-heads 4 --num-query-groups 2 --head-size 8 --ffn-hidden-size 64"
    " --vocab-size 64 --seq-length 32 --micro-batch-size 1 --global-batch-size 4";

class Program : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return folder_.file(name); }
  std::string text_of(const std::string& name) const {
    std::ifstream file(path(name));
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }

  // The exit code; stdout and stderr are in the files out and err.
  int shell(const std::string& command) const {
    const std::string whole =
        "cd '" + folder_.path().string() + "' && ( " + command + " ) >out 2>err";
    const int status = std::system(whole.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  // What llmb-report says of a log in the folder. It ends with 1 where no run is complete.
  json report(const std::string& log) const {
    EXPECT_LE(shell(kReport + " parse --format json --samples " + log), 1) << text_of("err");
    return json::parse(text_of("out"))["runs"][0];
  }

  std::vector<json> phases(const std::string& name) const {
    std::vector<json> lines;
    std::ifstream file(path(name));
    for (std::string line; std::getline(file, line);) lines.push_back(json::parse(line));
    return lines;
  }

 private:
  const TemporaryFolder folder_;
};

double mean_step_time_s(const std::vector<json>& phases, std::size_t first, std::size_t last) {
  double sum = 0;
  for (std::size_t i = first; i <= last; ++i) sum += phases.at(i)["step_time_s"].get<double>();
  return sum / static_cast<double>(last - first + 1);
}

TEST_F(Program, LlmbReportReadsARunAsCompleteWithWhatWasMeasured) {
  for (const char* format : {"nemo", "megatron-bridge"}) {
    SCOPED_TRACE(format);
    ASSERT_EQ(shell(kRunner + kTiny + " --virtual-ranks 4 --tp 2 --pp 2 --phases phases.jsonl" +
                    " --log-format " + format + " > run.out"),
              0)
        << text_of("err");
    const json run = report("run.out");
    EXPECT_EQ(run["status"], "complete") << run["status_reason"];
    EXPECT_EQ(run["step_count"], 50);
    // NeMo's window is of iterations from 0, Megatron's of iterations from 1.
    const bool is_nemo = std::string(format) == "nemo";
    EXPECT_EQ(run["window"], is_nemo ? "11-44" : "35-44");
    const double measured_s = is_nemo ? mean_step_time_s(phases("phases.jsonl"), 11, 44)
                                      : mean_step_time_s(phases("phases.jsonl"), 34, 43);
    EXPECT_NEAR(run["step_time_s_mean"].get<double>(), measured_s, 0.00005);
    EXPECT_EQ(run["tflops_per_gpu_count"], is_nemo ? 34 : 10);
    std::map<std::string, std::string> configuration;
    for (const json& entry : run["configuration"]) configuration[entry["key"]] = entry["value"];
    EXPECT_EQ(configuration["backend"], "cpu");
    EXPECT_EQ(configuration["gpu_type"], "cpu");
  }
}

// Every family on eight ranks; tp, pp, vp, cp, ep, etp and dp are all above 1 somewhere, and all
// that fit into eight at once.
TEST_F(Program, EveryFamilyTrainsOnEightRanksAndIsReadAsComplete) {
  const std::string shape =
      " --backend cpu --virtual-ranks 8 --num-layers 4 --hidden-size 32 --num-attention-heads 4"
      " --num-query-groups 2 --head-size 8 --vocab-size 64 --seq-length 32 --micro-batch-size 1"
      " --global-batch-size 4 --learning-rate 0.003 --phases phases.jsonl";
  const std::string experts = " --num-experts 4 --expert-ffn-hidden-size 32";
  for (const std::string model :
       {" -w pretrain_llama3.1 -s 8b --ffn-hidden-size 64 --tp 2 --cp 2 --dp 2",
        " -w pretrain_grok1 -s 314b --tp 2 --pp 2 --vp 2 --cp 2 --ep 2 --etp 2",
        " -w pretrain_llama4_maverick -s 400b --ffn-hidden-size 64"
        " --shared-expert-ffn-hidden-size 32 --pp 2 --cp 2 --dp 2 --ep 4 --etp 1",
        " -w pretrain_nemotron4 -s 15b --ffn-hidden-size 64 --tp 2 --pp 2 --dp 2"}) {
    SCOPED_TRACE(model);
    const bool is_moe = model.find("--ep ") != std::string::npos;
    std::string command = kRunner;
    command.append(model).append(shape).append(is_moe ? experts : "").append(" > run.out");
    ASSERT_EQ(shell(command), 0) << text_of("err");
    const json run = report("run.out");
    EXPECT_EQ(run["status"], "complete") << run["status_reason"];
    EXPECT_EQ(run["step_count"], 50);
    const std::vector<json> measured = phases("phases.jsonl");
    ASSERT_EQ(measured.size(), 50U);
    EXPECT_LT(measured.back()["loss"].get<double>(), measured.front()["loss"].get<double>() - 0.3);
    const bool is_nemo = run["window"] == "11-44";
    const double mean_s =
        is_nemo ? mean_step_time_s(measured, 11, 44) : mean_step_time_s(measured, 34, 43);
    EXPECT_NEAR(run["step_time_s_mean"].get<double>(), mean_s, 0.00005);
  }
}

// The ranks as processes, as srun or torchrun would start them.
TEST_F(Program, ProcessesTrainAsThreadsDo) {
  const std::string arguments = kTiny + " --tp 2 --steps 3 --log-format nemo --phases ";
  ASSERT_EQ(shell(kRunner + arguments + "threads.jsonl --virtual-ranks 2"), 0) << text_of("err");
  const int port = Listener("127.0.0.1", 0).port();
  const std::string launched = "MASTER_ADDR=127.0.0.1 MASTER_PORT=" + std::to_string(port) +
                               " WORLD_SIZE=2 timeout 60 " + kRunner + arguments;
  ASSERT_EQ(shell("RANK=1 " + launched + "other.jsonl & RANK=0 " + launched +
                  "processes.jsonl; code=$?; wait $! || exit 99; exit $code"),
            0)
      << text_of("err");
  const auto threads = phases("threads.jsonl");
  const auto processes = phases("processes.jsonl");
  ASSERT_EQ(threads.size(), 3U);
  ASSERT_EQ(processes.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(threads[i]["loss"], processes[i]["loss"]);
    EXPECT_EQ(threads[i]["grad_norm"], processes[i]["grad_norm"]);
  }
  EXPECT_FALSE(std::filesystem::exists(path("other.jsonl")));  // rank 0 alone measures
}

TEST_F(Program, ExitCodesSayWhatIsWrong) {
  EXPECT_EQ(shell(kRunner + " -w pretrain_grok1 -s 314b --scale 512 --gpu-type h100 --dry-run"),
            kExitOk);
  EXPECT_THAT(text_of("out"), HasSubstr("512 ranks = TP 4"));
  EXPECT_EQ(shell(kRunner + " -w pretrain_grok1 -s 314b --scale 512 --gpu-type h100 --tp 5"),
            kExitUsage);
  EXPECT_THAT(text_of("err"), HasSubstr("multiple of 80"));
  EXPECT_EQ(shell(kRunner + " -w pretrain_grok1 -s 314b --scale 512 --backend cpu"),
            kExitDoesNotFit);
  EXPECT_EQ(shell(kRunner + " -w pretrain_grok1 -s 314b --scale 1 --backend cpu"), kExitDoesNotFit);
  EXPECT_THAT(text_of("err"), HasSubstr("does not fit"));
  EXPECT_EQ(shell(kRunner + kTiny + " --learning-rate 1e30"), kExitNan);
  EXPECT_THAT(text_of("err"), HasSubstr("gradient norm"));
  EXPECT_EQ(shell("RANK=0 WORLD_SIZE=2 " + kRunner + kTiny), kExitUsage);
  EXPECT_THAT(text_of("err"), HasSubstr("MASTER_ADDR"));
}

// What a job's log holds where the nodes' program has no CUDA backend, or the node no device.
TEST_F(Program, AMissingDeviceIsRefusedInWordsThatLlmbReportKnows) {
  ASSERT_EQ(shell(kRunner + " --version"), kExitOk);
  const bool has_cuda = text_of("out").find("\nbackends: cpu cuda\n") != std::string::npos;
  ASSERT_EQ(shell("CUDA_VISIBLE_DEVICES= " + kRunner + kTiny +
                  " --backend cuda --scale 1 --tp 1 --pp 1 --cp 1 --gpu-type h100 >run.out 2>&1"),
            kExitUsage);
  EXPECT_THAT(text_of("run.out"), HasSubstr("No CUDA GPUs are available to this program: "));
  EXPECT_EQ(text_of("run.out").find("built without the CUDA backend") != std::string::npos,
            !has_cuda);
  const json run = report("run.out");
  EXPECT_EQ(run["status"], "failed") << run["status_reason"];
  EXPECT_THAT(run.dump(), HasSubstr("gpu_unavailable"));
}

TEST_F(Program, RefusalsAreConfigurationErrorsToLlmbReport) {
  const std::pair<const char*, const char*> kRefusals[] = {
      {" --scale 2 --tp 3", "tp 3 x cp 1 x pp 1 x dp 1 are 3 ranks, and the scale is 2; "},
      {" --scale 2 --pp 7", "are 7 ranks, and the scale is 2"},
      {" --scale 2 --ep 5", "experts take ep 5"},
      {" --num-attention-heads 3", "3"},
      {" --vocab-size 1", "vocab"},
      {" --virtual-ranks 2 --scale 4", "--virtual-ranks 2 disagree"},
      {" --steps 0", "--steps: "},
      {" --num-layer 2", "--num-layer"},
      {" -w pretrain_gpt", "pretrain_gpt"}};
  for (const auto& [options, words] : kRefusals) {
    SCOPED_TRACE(options);
    EXPECT_EQ(shell(kRunner + kTiny + options + " > run.out 2>&1"), kExitUsage);
    const json run = report("run.out");
    EXPECT_EQ(run["status"], "failed");
    EXPECT_EQ(run["failure"]["cause"], "configuration_error");
    EXPECT_THAT(run["failure"]["line"].get<std::string>(), HasSubstr(words));
  }
}

TEST_F(Program, CeilingsAreMeasuredWhereItWouldTrain) {
  ASSERT_EQ(shell(kRunner + " ceilings" + kTiny + " --ceiling-seconds 0.001"), kExitOk)
      << text_of("err");
  for (const char* line : {"this machine's CPU, ", "gemm qkv forward 32x32x64 fp32",
                           "gemm mlp fc2 backward_weight 32x64x32 fp32",
                           "attention backward b 1 heads 4/2 x 8 s 32", "copy of 64 MiB"}) {
    EXPECT_THAT(text_of("out"), HasSubstr(line));
  }
  ASSERT_EQ(shell("CUDA_VISIBLE_DEVICES= " + kRunner + " ceilings" + kTiny + " --backend cuda"),
            kExitUsage);
  EXPECT_THAT(text_of("err"), HasSubstr("No CUDA GPUs are available to this program: "));
}

TEST_F(Program, ACheckpointGoesOnInAnotherProcess) {
  const std::string run = kRunner + kTiny + " --virtual-ranks 2 --dp 2 --log-format nemo";
  ASSERT_EQ(shell("ENABLE_CHECKPOINT=true " + run + " --steps 2 --checkpoint-path saved > a.out"),
            0)
      << text_of("err");
  ASSERT_EQ(shell("LOAD_CHECKPOINT_PATH=saved " + run + " > b.out"), 0) << text_of("err");
  EXPECT_EQ(report("a.out")["checkpoints"][0]["kind"], "save");
  const json loaded = report("b.out");
  EXPECT_EQ(loaded["checkpoints"][0]["kind"], "load");
  EXPECT_EQ(loaded["step_count"], 1);
  EXPECT_EQ(loaded["last_iteration"], 2);
  // nemotron4, Load Checkpoint: "Training will run for 1 step after checkpoint has been loaded."
  EXPECT_EQ(loaded["is_function_check"], true) << loaded["status_reason"];
  EXPECT_EQ(report("a.out")["is_function_check"], false);
  EXPECT_TRUE(loaded["step_time_s_stddev_sample"].is_null()) << "one step has no deviation";
}

// nemotron4: "The scripts will restore configuration from the checkpoint and resume training".
TEST_F(Program, ACheckpointRestoresItsConfiguration) {
  const std::string layout = " --backend cpu --virtual-ranks 2 --dp 2 --log-format nemo";
  ASSERT_EQ(shell(kRunner + kTiny + layout + " --steps 2 --checkpoint --checkpoint-path saved"), 0)
      << text_of("err");
  ASSERT_EQ(shell("LOAD_CHECKPOINT_PATH=saved " + kRunner + layout + " > b.out"), 0)
      << text_of("err");
  const json loaded = report("b.out");
  EXPECT_EQ(loaded["step_count"], 1);
  EXPECT_EQ(loaded["model_size"], "8b");
  // What is said all the same, counts: another model cannot take its weights.
  ASSERT_NE(shell("LOAD_CHECKPOINT_PATH=saved " + kRunner + layout + " --hidden-size 64"), 0);
  EXPECT_THAT(text_of("err"), HasSubstr("of another model"));
}

TEST_F(Program, SaysWhereItsPlanCouldNotBeWritten) {
  if (shell("test -c /dev/full") != 0) GTEST_SKIP() << "this machine has no /dev/full";
  for (const std::string& words : {kTiny + " --dry-run", std::string(" --help")}) {
    EXPECT_EQ(shell(kRunner + words + " >/dev/full"), kExitFailed) << words;
    EXPECT_THAT(text_of("err"), HasSubstr("the output could not be written")) << words;
  }
}

// nemotron4: "distributed checkpoint files with extension *.distcp".
TEST_F(Program, ANemoCheckpointIsRefusedWithWhatCanBeDone) {
  ASSERT_EQ(shell("mkdir -p nemo/weights && touch nemo/weights/__0_0.distcp"), 0);
  ASSERT_EQ(shell("LOAD_CHECKPOINT_PATH=nemo " + kRunner + kTiny), kExitFailed);
  EXPECT_THAT(text_of("err"), HasSubstr("NeMo distributed checkpoint"));
  EXPECT_THAT(text_of("err"), HasSubstr("--launcher recipe"));
}

}  // namespace
}  // namespace llmb::runner
