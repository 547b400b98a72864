// The evaluation of first causes: failures as programs, drivers and schedulers print them, each
// labelled by hand, put into logs of several launchers, before the first step and after many, and
// followed by what other ranks and the launcher print of them. Half of the logs (by the hash of
// their text) is for writing rules, and the other one only for judging them. Prints what share of
// each half has the exact cause and an acceptable one, and which classes fail; and which healthy
// logs, cut at every tenth of their length, are called failed while they may still grow.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "log_samples.h"
#include "parser/foundation/content_hash.h"
#include "parser/statistics/run_summary.h"

namespace llmb::parser {
namespace {

struct Failure {
  const char* cause;       // exact
  const char* acceptable;  // others that a reader would let pass, separated by blanks
  const char* text;        // lines of the rank that fails first
};

constexpr std::array<Failure, 59> kFailures = {{
    {"cuda_oom", "",
     "Traceback (most recent call last):\n  File \"train.py\", line 91, in step\n"
     "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.20 GiB. GPU 2 has a total "
     "capacity of 79.11 GiB of which 1.02 GiB is free."},
    {"cuda_oom", "", "RuntimeError: CUDA error: out of memory"},
    {"cuda_oom", "",
     "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to "
     "allocate 17179869184 bytes."},
    {"cuda_oom", "", "torch.OutOfMemoryError: HIP out of memory. Tried to allocate 512.00 MiB."},
    {"host_oom_kill", "",
     "slurmstepd: error: Detected 1 oom_kill event in StepId=4411.0. Some of the step tasks have "
     "been OOM Killed."},
    {"host_oom_kill", "", "slurmstepd: error: Exceeded job memory limit at some point."},
    {"host_oom_kill", "",
     "[88123.1] Memory cgroup out of memory: Killed process 40211 (python3) total-vm:91238412kB"},
    {"host_oom_kill", "",
     "RuntimeError: DataLoader worker (pid 3312) is killed by signal: Killed."},
    {"host_oom_kill", "",
     "ray.exceptions.OutOfMemoryError: Task was killed due to the node running low on memory."},
    {"host_oom_kill", "segmentation_fault",
     "terminate called after throwing an instance of 'std::bad_alloc'\n  what():  std::bad_alloc"},
    {"locked_memory_limit", "nccl_system_error",
     "node-2:811:902 [3] misc/ibvwrap.cc:252 NCCL WARN Call to ibv_reg_mr failed with error Cannot "
     "allocate memory"},
    {"locked_memory_limit", "nccl_system_error",
     "node-2:811:902 [3] NCCL WARN Call to ibv_create_cq failed with error Cannot allocate memory"},
    {"shared_memory_full", "",
     "RuntimeError: unable to write to file </torch_3312_11_0>: No space left on device (28)"},
    {"gpu_hardware_error", "",
     "[ 9121.22] NVRM: Xid (PCI:0000:4e:00): 79, pid=4021, name=python, GPU has fallen off the "
     "bus."},
    {"gpu_hardware_error", "cuda_error",
     "RuntimeError: CUDA error: uncorrectable ECC error encountered"},
    {"gpu_hardware_error", "illegal_memory_access",
     ":0:rocdevice.cpp :2984: Callback: Queue 0x7f aborting with error : "
     "HSA_STATUS_ERROR_EXCEPTION: An HSAIL operation resulted in a hardware exception."},
    {"illegal_memory_access", "gpu_hardware_error",
     "Memory access fault by GPU node-4 (Agent handle: 0x55d) on address 0x7f12. Reason: Unknown."},
    {"illegal_memory_access", "cuda_error",
     "RuntimeError: CUDA error: an illegal memory access was encountered"},
    {"device_side_assert", "cuda_error", "RuntimeError: CUDA error: device-side assert triggered"},
    {"gpu_unavailable", "cuda_error",
     "RuntimeError: The NVIDIA driver on your system is too old (found version 11040)."},
    {"gpu_unavailable", "cuda_error",
     "RuntimeError: Unexpected error from cudaGetDeviceCount(). Error 802: system not yet "
     "initialized"},
    {"gpu_unavailable", "cuda_error",
     "RuntimeError: CUDA error: no kernel image is available for execution on the device"},
    {"nan_loss", "",
     "AssertionError: found NaN in local forward loss calculation. Device: 3, node: node-1"},
    {"nan_loss", "",
     "RuntimeError: Rank 3, node node-1, device 3, iteration 21: Unexpected result "
     "nan (message='found NaN in local forward loss calculation')"},
    {"nan_gradient", "nan_loss python_exception",
     "Exception: Current loss scale already at minimum - cannot decrease scale anymore. Exiting "
     "run."},
    {"disk_full_or_quota", "",
     "OSError: [Errno 28] No space left on device: '/lustre/ckpt/iter_0000020/__3_0.distcp'"},
    {"disk_full_or_quota", "", "OSError: [Errno 122] Disk quota exceeded"},
    {"disk_full_or_quota", "file_system_error",
     "RuntimeError: PytorchStreamWriter failed writing file data/7: file write failed"},
    {"file_limit", "", "OSError: [Errno 24] Too many open files: '/lustre/data/part_00411.bin'"},
    {"file_system_error", "", "OSError: [Errno 116] Stale file handle: '/lustre/data/index'"},
    {"hf_authentication", "",
     "huggingface_hub.errors.GatedRepoError: 401 Client Error. Cannot access gated repo for url "
     "https://huggingface.co/meta-llama/Llama-3.1-405B/resolve/main/config.json."},
    {"hf_unreachable", "",
     "requests.exceptions.HTTPError: 429 Client Error: Too Many Requests for url: "
     "https://huggingface.co/api/models/x"},
    {"missing_module", "", "ModuleNotFoundError: No module named 'transformer_engine'"},
    {"missing_module", "",
     "ImportError: libcudnn.so.9: cannot open shared object file: No such file or directory"},
    {"tokenizer_or_data_missing", "",
     "FileNotFoundError: [Errno 2] No such file or directory: '/data/pile_text_document.idx'"},
    {"tokenizer_or_data_missing", "checkpoint_unreadable",
     "RuntimeError: Internal: could not parse ModelProto from /data/tokenizer.model"},
    {"checkpoint_unreadable", "",
     "safetensors_rust.SafetensorError: Error while deserializing header: "
     "InvalidHeaderDeserialize"},
    {"checkpoint_unreadable", "", "_pickle.UnpicklingError: invalid load key, 'v'."},
    {"checkpoint_unreadable", "",
     "RuntimeError: Error(s) in loading state_dict for GPTModel:\n\tMissing key(s) in state_dict: "
     "\"decoder.layers.0.mlp.weight\"."},
    {"configuration_error", "", "pretrain.py: error: unrecognized arguments: --tensor-parallel 4"},
    {"configuration_error", "",
     "omegaconf.errors.ConfigAttributeError: Key 'sequence_paralel' is not in struct"},
    {"configuration_error", "python_exception",
     "ValueError: num_attention_heads (52) must be divisible by tensor_model_parallel_size (8)"},
    {"nccl_timeout", "",
     "[E1222 15:18:33.1 ProcessGroupNCCL.cpp:607] [Rank 3] Watchdog caught collective operation "
     "timeout: WorkNCCL(SeqNum=11, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) "
     "ran for 600005 milliseconds before timing out."},
    {"nccl_timeout", "",
     "[E1222 15:18:33.1 ProcessGroupNCCL.cpp:1375] [PG 0 Rank 3] First PG on this rank that "
     "detected no heartbeat of its watchdog.\n[F1222 15:18:34.1 ProcessGroupNCCL.cpp:1552] [PG 0 "
     "Rank 3] ProcessGroupNCCL's watchdog got stuck for 480 seconds without making progress"},
    {"nccl_system_error", "peer_lost nccl_error",
     "torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:2090, unhandled "
     "system error (run with NCCL_DEBUG=INFO for details), NCCL version 2.25.1"},
    {"nccl_error", "cuda_error",
     "torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:2090, internal error "
     "- please report this issue to the NCCL developers, NCCL version 2.25.1"},
    {"rendezvous_failure", "",
     "RuntimeError: The server socket has failed to listen on any local network address. port: "
     "29500, useIpv6: false, code: -98, name: EADDRINUSE, message: address already in use"},
    {"rendezvous_failure", "",
     "torch.distributed.DistNetworkError: failed to look up node-1: Temporary failure in name "
     "resolution"},
    {"gloo_error", "nccl_timeout",
     "RuntimeError: [../third_party/gloo/gloo/transport/tcp/unbound_buffer.cc:81] Timed out "
     "waiting "
     "1800000ms for recv operation to complete"},
    {"segmentation_fault", "task_killed",
     "[node-1:4011 :0:4011] Caught signal 11 (Segmentation fault: address not mapped to object)"},
    {"segmentation_fault", "task_killed",
     "pure virtual method called\nterminate called without an active exception"},
    {"container_error", "",
     "slurmstepd: error: pyxis: container start failed with error code: 1\nslurmstepd: error: "
     "pyxis: "
     "failed to import docker image"},
    {"srun_launch_error", "",
     "srun: error: Task launch for StepId=4411.0 failed on node node-3: "
     "Job credential expired"},
    {"time_limit", "",
     "slurmstepd: error: *** STEP 4411.0 ON node-1 CANCELLED AT 2025-12-22T15:18:33 DUE TO TIME "
     "LIMIT ***"},
    {"node_failure", "",
     "slurmstepd: error: *** JOB 4411 ON node-1 CANCELLED AT 2025-12-22T15:18:33 DUE TO NODE "
     "FAILURE, SEE SLURMCTLD LOG FOR DETAILS ***"},
    {"preempted", "",
     "slurmstepd: error: *** JOB 4411 ON node-1 CANCELLED AT 2025-12-22T15:18:33 DUE TO PREEMPTION "
     "***"},
    {"cancelled", "",
     "slurmstepd: error: *** STEP 4411.0 ON node-1 CANCELLED AT 2025-12-22T15:18:33 ***"},
    {"python_exception", "", "Exception: expected 8 shards, got 7"},
    {"python_exception", "",
     "Traceback (most recent call last):\n  File \"train.py\", line 9, in <module>\nTypeError: "
     "forward() got an unexpected keyword argument 'packed_seq_params'"},
}};

std::string prefixed(const std::string& prefix, const std::string& text) {
  std::string lines;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines += prefix + text.substr(begin, end - begin) + "\n";
    begin = end + 1;
  }
  return lines;
}

std::string steps(const std::string& prefix, int count) {
  std::string lines;
  for (int i = 0; i < count; ++i) {
    lines += prefix + fmt::format(
                          "Training epoch 0, iteration {}/49 | lr: 1e-06 | global_step: {} "
                          "| reduced_train_loss: {:.3f} | train_step_timing in s: {:.3f}\n",
                          i, i, 11 - 0.05 * i, 4.4 + 0.001 * (i % 7));
  }
  return lines;
}

// What a log holds before anything goes wrong, ill-looking lines that harm nobody included.
const std::string kStart =
    "+ srun --container-image=/lustre/images/nemo.sqsh bash -c train.sh\n"
    "node-1:811:811 [0] NCCL INFO NET/Plugin: Could not find: libnccl-net.so. libnccl-net.so: "
    "cannot open shared object file: No such file or directory\n"
    "[W1222 15:10:01.1 socket.cpp:697] [c10d] The client socket has failed to connect to "
    "[node-1]:29500 (errno: 111 - Connection refused).\n"
    "Ignored error while writing commit hash to file: [Errno 13] Permission denied: '/opt/x'\n"
    "/usr/lib/python3/site-packages/torch/cuda/__init__.py:129: UserWarning: CUDA initialization: "
    "Found no NVIDIA driver on your system.\n"
    "[NeMo W 2025-12-22 15:10:02 nemo_logging:405] Missing key(s) in state_dict are ignored\n"
    "slurmstepd: error: couldn't chdir to `/home/u/run': No such file or directory: going to /tmp "
    "instead\n"
    "# a comment: CUDA out of memory is handled below\n"
    "  on_failure: kill the job DUE TO TIME LIMIT\n";

// What others print of it, in the order of launchers: other ranks, torchrun, srun.
const std::string kCascade =
    "[rank5]: torch.distributed.DistBackendError: [5] is setting up NCCL communicator and "
    "retrieving ncclUniqueId from [0] via c10d key-value store by key '0', but store->get('0') got "
    "error: Connection reset by peer\n"
    "[rank6]:[W1222 15:19:01.1 ProcessGroupNCCL.cpp:1496] Warning: destroy_process_group() was not "
    "called before program exit\n"
    "Traceback (most recent call last):\n"
    "  File \"/usr/local/bin/torchrun\", line 8, in <module>\n"
    "torch.distributed.elastic.multiprocessing.errors.ChildFailedError:\n"
    "  exitcode  : 1 (pid: 4021)\n"
    "srun: error: node-1: task 3: Exited with exit code 1\n"
    "srun: Terminating StepId=4411.0\n"
    "srun: error: node-2: tasks 8-15: Terminated\n";

struct LabelledText {
  const Failure* failure = nullptr;
  std::string text;
};

std::vector<LabelledText> labelled_texts() {
  constexpr auto kPrefixes = std::to_array<const char*>(
      {"", "3: ", "[rank3]: ", "[default3]:", "2025-12-22T15:18:33.123456Z ", "[1,3]<stderr>:"});
  std::vector<LabelledText> logs;
  for (std::size_t f = 0; f < kFailures.size(); ++f) {
    for (std::size_t p = 0; p < kPrefixes.size(); ++p) {
      const std::string prefix = kPrefixes[p];
      // Steps are printed under srun's label or none; half of the logs die before the first.
      const int step_count = (f + p) % 2 == 0 ? 0 : 21;
      std::string text = kStart + steps(p == 1 ? "0: " : "", step_count);
      text += prefixed(prefix, kFailures[f].text);
      if ((f + p) % 3 != 0) text += kCascade;
      logs.push_back({&kFailures[f], std::move(text)});
    }
  }
  return logs;
}

RunSummary judge(const std::string& text, bool may_still_grow) {
  const ParsedLog log = parse_log(text);
  return summarize_run(log.samples, log.facts, {11, 44}, may_still_grow);
}

bool holds_word(const std::string& words, const std::string& word) {
  return !word.empty() && (" " + words + " ").find(" " + word + " ") != std::string::npos;
}

struct Score {
  int logs = 0;
  int exact = 0;
  int acceptable = 0;
};

TEST(CauseEvaluation, OfLogsThatFailed) {
  std::array<Score, 2> halves;
  std::map<std::string, Score> classes;
  std::set<std::string> found_instead;
  for (const auto& [failure, text] : labelled_texts()) {
    const std::string cause = judge(text, false).failure_cause;
    const bool is_exact = cause == failure->cause;
    const bool is_acceptable = is_exact || holds_word(failure->acceptable, cause);
    for (Score* const score : {&halves.at(content_hash(text) % 2), &classes[failure->cause]}) {
      ++score->logs;
      score->exact += is_exact ? 1 : 0;
      score->acceptable += is_acceptable ? 1 : 0;
    }
    if (!is_exact) found_instead.insert(fmt::format("{} told as {}", failure->cause, cause));
  }
  for (std::size_t half = 0; half < 2; ++half) {
    const Score& score = halves.at(half);
    std::cout << fmt::format("{}: {} logs, {:.1f} % exact, {:.1f} % acceptable\n",
                             half == 0 ? "for writing rules" : "for judging them", score.logs,
                             100.0 * score.exact / score.logs,
                             100.0 * score.acceptable / score.logs);
    EXPECT_GE(score.exact, score.logs * 90 / 100);
    EXPECT_GE(score.acceptable, score.logs * 95 / 100);
  }
  EXPECT_GE(halves[0].logs + halves[1].logs, 300);
  for (const auto& [cause, score] : classes) {
    if (score.exact == score.logs) continue;
    std::cout << fmt::format("  {}: {} of {} exact, {} acceptable\n", cause, score.exact,
                             score.logs, score.acceptable);
  }
  for (const std::string& mistake : found_instead) std::cout << "  " << mistake << '\n';
}

// A healthy log, as it grows and when it has ended.
TEST(CauseEvaluation, OfHealthyLogsCutAtEveryTenth) {
  constexpr auto kHarmless = std::to_array<const char*>(
      {"",
       "[rank3]:[W1222 15:12:01.1 Utils.hpp:106] Warning: Environment variable NCCL_X is "
       "deprecated",
       "WARNING: retrying after Connection reset by peer",
       "[NeMo W 2025-12-22 15:12:02 rerun:1] Unexpected result nan is tolerated, will retry",
       "urllib3.connectionpool - WARNING - Retrying (Retry(total=4)) after connection broken by "
       "'NameResolutionError': /api huggingface.co",
       "Exception ignored in: <function _MultiProcessingDataLoaderIter.__del__ at 0x7f>",
       "node-1:811:902 [0] NCCL INFO NET/IB : No device found.",
       "2025-12-22 15:12:03 - INFO - on error: Disk quota exceeded is reported to the team",
       "+ echo 'slurmstepd: error: *** STEP 1.0 CANCELLED AT'",
       "# FileNotFoundError: see the manual"});
  int cuts = 0;
  std::vector<std::string> misjudged;
  for (const char* const harmless : kHarmless) {
    const std::string text = kStart + harmless + "\n" + steps("", 25) + harmless + "\n" +
                             steps("", 50).substr(steps("", 25).size()) +
                             "[after training is done] datetime: 2025-12-22 15:32:24\n";
    for (int tenth = 1; tenth <= 10; ++tenth) {
      const RunSummary summary =
          judge(text.substr(0, text.size() * static_cast<std::size_t>(tenth) / 10), true);
      ++cuts;
      if (summary.status == RunStatus::failed || summary.status == RunStatus::invalid) {
        misjudged.push_back(
            fmt::format("{} tenths of '{}': {}", tenth, harmless, summary.status_reason));
      }
    }
    EXPECT_EQ(judge(text, false).status, RunStatus::complete) << harmless;
  }
  std::cout << fmt::format("healthy logs: {} cuts, {} called failed\n", cuts, misjudged.size());
  for (const std::string& mistake : misjudged) std::cout << "  " << mistake << '\n';
  EXPECT_TRUE(misjudged.empty());
}

}  // namespace
}  // namespace llmb::parser
