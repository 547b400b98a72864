#include "parser/dialects/failure.h"

#include <gtest/gtest.h>

#include <numeric>

#include "log_samples.h"
#include "parser/dialects/wanted_literals.h"

namespace llmb::parser {
namespace {

// By the signs whose literals the scan finds in the line, as LogReader does.
std::optional<LogEvent> read(const Record& record) {
  const WantedLiterals& wanted = WantedLiterals::instance();
  LiteralSet found = wanted.none();
  wanted.find_in(record.text, found);
  std::vector<std::uint16_t> signs;
  wanted.of_failures().find(found, signs);
  return read_failure(record, {}, signs);
}

// The slow oracle: by every sign.
std::optional<LogEvent> read_by_all(const Record& record) {
  std::vector<std::uint16_t> signs(failure_signs().size());
  std::iota(signs.begin(), signs.end(), std::uint16_t{0});
  return read_failure(record, {}, signs);
}

std::string cause_of(std::string_view line) {
  const auto event = read({line, 0});
  const auto by_all = read_by_all({line, 0});
  EXPECT_EQ(event ? event->cause : "none", by_all ? by_all->cause : "none") << line;
  if (!event) return "none";
  return (event->kind == LogEvent::Kind::finish_marker ? "finish:" : "") + event->cause;
}

TEST(Failure, IsToldByWhatRunsTheJob) {
  const std::pair<const char*, const char*> kLines[] = {
      {"  Normal   Preempted  32s   default-scheduler  Preempted by pod 5f1d on node n3",
       "preempted"},
      {"Preempted to accommodate a workload (UID: 8) due to prioritization", "preempted"},
      {"  Warning  NodeNotReady  4m11s  node-controller  Node is not ready", "node_failure"},
      {"Pod ephemeral local storage usage exceeds the total limit of containers 100Gi.",
       "disk_full_or_quota"},
      {"Usage of EmptyDir volume \"dshm\" exceeds the limit \"64Gi\".", "disk_full_or_quota"},
      {"  Warning  FailedMount  2m  kubelet  MountVolume.SetUp failed for volume \"ckpt\"",
       "container_error"},
      {"PyTorchJob llama is failed because 1 Worker replica(s) failed.", "job_exited"},
      {"Job 'raysubmit_kQ2b' was stopped", "cancelled"},
      {"controller.py:402] Job 23 was cancelled by user request, tearing down task 0", "cancelled"},
      {"run.sh: attempt=1 rc=1; stray process killed; retrying in 60 s", "restarted"},
      {"INFO request 17 was cancelled by user request", "none"},
      {"run.sh: attempt=1 rc=1", "none"},
      {"recovery_strategy.py:88] Managed job cluster launched, recovered in 675 s.", "started"},
      {"Job 'raysubmit_kQ2b' failed", "job_exited"},
      {"salloc: Job allocation 4411 has been revoked.", "cancelled"},
      {"^Csrun: sending Ctrl-C to StepId=62.3", "interrupted"},
      {"srun: First task exited 60s ago", "task_exited"},
      {"PRTE has lost communication with a remote daemon.", "node_failure"},
      {"ORTE has lost communication with its daemon located on node:", "node_failure"},
      {"MPI_ABORT was invoked on rank 3 in communicator MPI_COMM_WORLD", "child_failed"},
      {"W0625 20:02:31.8 24 api.py:723] Received Signals.SIGHUP death signal, shutting down "
       "workers",
       "interrupted"},
      {"slurmstepd: error: mpi/pmix_v4: libpmix.so.2: cannot open shared object file: No such file",
       "srun_launch_error"},
      {"[n:9] OPAL ERROR: Unreachable in file ext3x_client.c at line 111", "srun_launch_error"},
      {"error: pyxis:     enroot-nsenter: failed to create user namespace: No space left on device",
       "container_error"},
      {"nvidia-container-cli: initialization error: nvml error: driver/library version mismatch",
       "gpu_unavailable"},
      {"nvidia-container-cli: detection error: nvml error: GPU is lost", "gpu_hardware_error"},
      {"nvidia-container-cli: initialization error: nvml error: insufficient permissions",
       "container_error"},
      {"./launch.sh: line 71: GPUS_PER_NODE: unbound variable", "configuration_error"},
      {"run.sh: line 3: fork: retry: Resource temporarily unavailable", "file_limit"},
      {"setup.py: error: argument -c/--dtype: invalid choice: 'fp4' (choose from bf16)",
       "configuration_error"}};
  for (const auto& [line, cause] : kLines) EXPECT_EQ(cause_of(line), cause) << line;
}

// In the runner's own words: socket.cpp, socket_mesh.cpp, rendezvous.cpp, the checkpoint's files.
TEST(Failure, IsToldByLlmbStepRunner) {
  const std::pair<const char*, const char*> kLines[] = {
      {"rank 0 waited 120 s at n1:25168; did not come: rank 4, rank 5", "rendezvous_failure"},
      {"rank 2 did not reach rank 0: could not connect to n1:25168: Connection refused",
       "rendezvous_failure"},
      {"the address of n1:25168 is not known: Name or service not known", "rendezvous_failure"},
      {"could not learn from rank 0 at n1:25168 where the others are: the connection was closed",
       "peer_lost"},
      {"rank 5 has vanished: its connection closed", "peer_lost"},
      {"rank 0 waited for rank 1 in all_reduce: nothing came in time", "peer_lost"},
      {"no checkpoint in /c: it has neither a file \"latest\" nor a manifest.json",
       "checkpoint_unreadable"},
      {"checkpoint file /c/rank_0.shard is damaged: a block ends early", "checkpoint_unreadable"},
      {"could not read the checkpoint's /c/manifest.json: Permission denied",
       "checkpoint_unreadable"},
      {"/c/manifest.json is of format 9, and this program reads format 2", "checkpoint_unreadable"},
      {"cannot write --phases file '/r/phases_8.jsonl': Read-only file system",
       "file_system_error"},
      {"could not write /r/rank_0.shard: Input/output error", "file_system_error"},
      {"could not write /r/rank_0.shard: No space left on device", "disk_full_or_quota"},
      {"refused: tp 3 x cp 1 x pp 1 x dp 1 are 3 ranks, and the scale is 2; dp fits with 1",
       "configuration_error"},
      {"refused: The following argument was not expected: --num-layer", "configuration_error"},
      {"rank 0 goes on without CUDA graphs from step 1 on: refused", "none"},
      {"8 ranks as processes on CPUs; times and TFLOPS are theirs, not a GPU's", "none"},
      {"proxy: layer_count 32 -> 4", "none"}};
  for (const auto& [line, cause] : kLines) {
    EXPECT_EQ(cause_of(std::string("llmb-step-runner: ") + line), cause) << line;
  }
}

TEST(Failure, IsToldByWhatLibrariesSay) {
  const std::pair<const char*, const char*> kLines[] = {
      {"[F1 ProcessGroupNCCL.cpp:1597] Terminating the process after attempting to dump debug "
       "info, "
       "due to collective timeout or exception.",
       "nccl_timeout"},
      {"Received a dump signal due to a collective timeout from  rank 11", "nccl_timeout"},
      {"Observed flight recorder dump signal from another rank via TCPStore.", "nccl_timeout"},
      {"collective timeout: 600 s", "none"},
      {"n:1:2 [2] NCCL WARN Error: failed to extend /dev/shm/nccl-G to 33030532 bytes, error: No "
       "space left on device (28)",
       "shared_memory_full"},
      {"memlock limits are set too low.  For most HPC installations, the", "locked_memory_limit"},
      {"max locked memory       (kbytes, -l) unlimited", "none"},
      {"[ND 6][NC 1] Uncorrectable HBM memory error is detected. Code: NRT_EXEC_HW_ERR_HBM_UE",
       "gpu_hardware_error"},
      {"what():  thread: Resource temporarily unavailable [system:11]", "file_limit"},
      {"[n:1:0:1] ud_iface.c:781  Fatal: transport error: Endpoint timeout", "nccl_system_error"},
      {"(raylet) Memory on the node was 1.9TB / 2.0TB (0.95), which exceeds the memory usage "
       "threshold of 0.95.",
       "host_oom_kill"},
      {"RuntimeError: Data processing error: CAS service error : Request failed after 5 retries",
       "hf_unreachable"},
      {"RuntimeError: GET was unable to find an engine to execute this computation", "cuda_error"},
      {"torch._inductor.exc.InductorError: AssertionError: libcuda.so cannot found!",
       "missing_module"},
      {"ConnectionResetError: [Errno 104] Connection reset by peer", "python_exception"},
      {"[c10d] recv failed (errno: 104 - Connection reset by peer)", "peer_lost"},
      {"TypeError: Nemotron4Config340B.__init__() got an unexpected keyword argument 'x'",
       "configuration_error"},
      {"n4:5:6 [7] misc/socket.cc:484 NCCL WARN Call to recv from 10.4.4.4 failed : Connection "
       "reset "
       "by peer",
       "peer_lost"},
      {"main.c:1:10: fatal error: Python.h: No such file or directory", "missing_module"},
      {"Failed to pull image \"r/x:25.9\": rpc error: code = NotFound", "container_error"},
      {"14400.052s: job.exception f2Qj8 type=timeout severity=0 resource allocation expired",
       "time_limit"},
      {"12.052s: job.exception f2Qj8 type=cancel severity=0 by the user", "cancelled"},
      {"RuntimeError: [Rank:5] FATAL ERROR :: MODULE:PT_DEVMEM Allocation failed for size::640",
       "cuda_oom"},
      {"FloatingPointError: The gradients are scaled down to minimum at step 412.", "nan_gradient"},
      {"FloatingPointError: gradients not finite, see dump", "nan_gradient"},
      {"2025-03-21 08:13:05 Stopped - Training job runtime exceeded MaxRuntimeInSeconds provided",
       "time_limit"},
      {"[2024-01-17 20:04:20,609] [INFO] [launch.py:316:sigkill_handler] Main process received "
       "SIGINT, exiting",
       "interrupted"},
      {"java.lang.OutOfMemoryError: Java heap space", "host_oom_kill"},
      {"pynvml.NVMLError_GpuIsLost: GPU is lost", "gpu_hardware_error"},
      {"corrupted double-linked list", "segmentation_fault"},
      {"Access to model meta-llama/Llama-3.1-8B is restricted. You must have access to it",
       "hf_authentication"},
      {"[cudnn_frontend] Error: No execution plans support the graph.", "cuda_error"}};
  for (const auto& [line, cause] : kLines) EXPECT_EQ(cause_of(line), cause) << line;
}

TEST(Failure, IsToldByWhatSchedulersLaunchersAndShellsSay) {
  const std::pair<const char*, const char*> kLines[] = {
      {"asahi: KeyboardInterrupt", "interrupted"},
      {"fit: KeyboardInterrupt held back, saving first (press twice to leave)", "none"},
      {"GET http://metadata/computeMetadata/v1/instance/preempted -> FALSE", "none"},
      {"The instance was preempted.", "preempted"},
      {"fatal: no readable checkpoint in /ckpt", "checkpoint_unreadable"},
      {"INFO tune_controller.py:1574 -- Trial Torch_e71f1_0 restarts from checkpoint_000000",
       "restarted"},
      {"### attempt 2 of 2071183 on a[41-44] ###", "restarted"},
      {"Tue Jul 15 18:51:09 UTC 2025 job 33108 restart 1 on n[4-7]", "started"},
      {"START TIME: Mon Oct 27 12:01:44 UTC 2025  SLURM_RESTART_COUNT=1", "started"},
      {"oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=step_0,task=python,pid=991",
       "host_oom_kill"},
      {"bash: torchrun: command not found", "missing_module"},
      {"/bin/sh: 1: nvcc: not found", "missing_module"},
      {"trainer: checkpoint 12: not found", "none"},
      {"/usr/bin/env: 'python': No such file or directory", "missing_module"},
      {"AssertionError: One or both of the .idx and .bin files cannot be found at the path prefix "
       "/d",
       "tokenizer_or_data_missing"},
      {"RuntimeError: Timed out initializing process group in store based barrier on rank: 0",
       "rendezvous_failure"},
      {"srun: error: mpi/pmix_v4: init: (null) [0]: mpi_pmix.c:193: can not load PMIx library",
       "srun_launch_error"},
      {"Task's current input in-Q8Z hit its timeout of 86400s", "time_limit"},
      {"mpirun detected that one or more processes exited with non-zero status, thus causing",
       "child_failed"},
      {"Primary job  terminated normally, but 1 process returned", "child_failed"},
      {"W1017 06:00:34.6 16 torch/distributed/elastic/agent/server/api.py:725] Received 15 death "
       "signal, shutting down workers",
       "task_killed"},
      {"ulimit: core file size 0; no core will be written on Segmentation fault", "none"},
      {"n1:9:2 [5] register_mr_buffers:465 NCCL WARN NET/OFI Unable to register memory (type = 1) "
       "for device 0. RC: 12, Error: Cannot allocate memory",
       "locked_memory_limit"},
      {"I 07-22 05:13:30 controller.py:345] Recovered: cluster relaunched in us-west4-b, recovery "
       "1",
       "restarted"},
      {"Warning  Evict   41s   volcano   Pod is evicted, because of preempt", "preempted"},
      {"(TrainController pid=2204) [State Transition] RUNNING -> RESTARTING.", "restarted"},
      {"NCCL version 2.27.3+cuda12.9", "started"}};
  for (const auto& [line, cause] : kLines) EXPECT_EQ(cause_of(line), cause) << line;
}

// As users reported them in public threads.
TEST(Failure, IsToldByWhatUsersReport) {
  const std::pair<const char*, const char*> kLines[] = {
      {"Worker exits with an exit code None. The worker may have exceeded K8s pod memory limits.",
       "host_oom_kill"},
      {"n1:7:8 [0] transport/net_ib.cc:1038 NCCL WARN NET/IB : req 0/1 tag 0 peer 10.1.2.3<5> "
       "collective mismatch error, local size 496640 remote size 65536",
       "nccl_error"},
      {"n1:7:8 [5] bootstrap.cc:77 NCCL WARN Message truncated : received 256 bytes instead of 4",
       "nccl_error"},
      {"n1:7:8 [2] misc/nvmlwrap.cc:187 NCCL WARN nvmlDeviceGetHandleByPciBusId() failed: Not "
       "Found",
       "nccl_system_error"},
      {"[n1:16609:0:17713] Caught signal 7 (Bus error: nonexistent physical address)",
       "segmentation_fault"},
      {"srun: error: n1: task 3: Bus error (core dumped)", "segmentation_fault"},
      {"!!!!!!! Segfault encountered !!!!!!!", "segmentation_fault"},
      {"could not load the checkpoint", "checkpoint_unreadable"},
      {"could not load the checkpoint, starting from random weights", "none"},
      {"[Errno 2] No such file or directory: 'iter_0006000/mp_rank_00/model_optim_rng.pt'",
       "tokenizer_or_data_missing"},
      {"warning: [Errno 2] No such file or directory: 'cache.json'", "none"},
      {"[2025-12-20 00:42:37,511] [WARNING] [RankMonServer6014@n9:66] Section 'step' has been open "
       "for 1803.22 seconds. Timeout is 1800.00 seconds.",
       "nccl_timeout"},
      {"lightning.pytorch.utilities.exceptions.SIGTERMException", "task_killed"},
      {"n9: LustreError: 11-0: fs3-OST0042-osc-f: operation ost_write to node 10.0.0.6@o2ib "
       "failed: rc = -107",
       "file_system_error"},
      {"I 03-12 15:41:52 controller.py:289] Cluster is preempted or failed (status: STOPPED).",
       "preempted"},
      {"I 03-08 02:44:58 state.py:561] ==== Recovered. ====", "restarted"},
      {"(TorchTrainer pid=6288) Restored on 10.128.0.32 from checkpoint: Checkpoint(x)",
       "restarted"},
      {"[3] include/shm.h:28 NCCL WARN Call to posix_fallocate failed : No space left on device",
       "shared_memory_full"},
      {"n1: Test CUDA failure common.cu:941 'system not yet initialized'", "gpu_unavailable"},
      {"INFO: container failed with non-zero exit code: 137", "task_killed"},
      {"Exited with exit code 143.", "task_killed"},
      {"srun: error: n1: task 3: Exited with exit code 143", "task_exited"},
      {"Task:horovod-worker, Event:PodEvicted, ExitCode:0, Action:, JobVersion: 0>", "preempted"}};
  for (const auto& [line, cause] : kLines) EXPECT_EQ(cause_of(line), cause) << line;
}

TEST(Failure, IsToldByItsLine) {
  EXPECT_EQ(
      cause_of("slurmstepd: error: *** STEP 6.2 ON n1 CANCELLED AT 2025-06-25T05:58:06 DUE TO "
               "TIME LIMIT ***"),
      "time_limit");
  EXPECT_EQ(
      cause_of("slurmstepd: error: *** JOB 6 ON n1 CANCELLED AT 2025-06-25T05:58:06 DUE TO NODE "
               "FAILURE, SEE SLURMCTLD LOG FOR DETAILS ***"),
      "node_failure");
  EXPECT_EQ(cause_of("[2026-04-29T23:36:37.809] error: *** STEP 5.0 ON n CANCELLED AT "
                     "2026-04-29T23:36:37 DUE TO TASK FAILURE ***"),
            "task_failure");
  EXPECT_EQ(cause_of("slurmstepd: error: *** JOB 18 ON r8 CANCELLED AT 2021-05-23T08:45:57 ***"),
            "cancelled");
  EXPECT_EQ(cause_of("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 55.88 GiB."),
            "cuda_oom");
  EXPECT_EQ(cause_of("[Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=2)"),
            "nccl_timeout");
  EXPECT_EQ(cause_of("srun: error: node1: task 130: Exited with exit code 1"), "task_exited");
  EXPECT_EQ(cause_of("srun: error: node1: tasks 0-57,59-63: Terminated"), "task_killed");
  EXPECT_EQ(cause_of("slurmstepd: error: Detected 1 oom_kill event in StepId=84.0."),
            "host_oom_kill");
  EXPECT_EQ(cause_of("srun: error: node1: task 3: Out Of Memory"), "host_oom_kill");
  EXPECT_EQ(cause_of("Traceback (most recent call last):"), "python_traceback");
  EXPECT_EQ(cause_of("AssertionError: found NaN in local grad norm in backward pass"),
            "nan_gradient");
  EXPECT_EQ(cause_of("but OMPI was not built with SLURM's PMI support and"), "srun_launch_error");
  EXPECT_EQ(cause_of("2026-03-04 09:11 - CRITICAL - aborted: loss became NaN"), "nan_loss");
  EXPECT_EQ(cause_of("ERROR: rank 3 exited unexpectedly (signal: SIGKILL)"), "task_killed");
  EXPECT_EQ(cause_of("error: failed to run train.py: signal: killed"), "task_killed");
  EXPECT_EQ(cause_of("job exited with code 1"), "job_exited");
  EXPECT_EQ(cause_of("llmb-step-runner: No CUDA GPUs are available to this program"),
            "gpu_unavailable");
}

TEST(Failure, IsTheLastLineOfATracebackInAnySpelling) {
  for (const char* const line :
       {"AssertionError",
        "ValueError: x",
        "torch.distributed.DistBackendError: x",
        "StopIteration",
        "subprocess.TimeoutExpired: x",
        "torch._dynamo.exc.Unsupported: x",
        "queue.errors.Full",
        "NotImplementedError",
        "concurrent.futures.process.BrokenProcessPool: x",
        "[rank0]:[rank0]: TypeError: x",
        "gpu-node-7: IndexError: x",
        "  TypeError: x",
        "    | KeyError: 'shard'",
        "numpy._core._exceptions._UFuncTypeError: x",
        "pyarrow.lib.ArrowInvalid: x",
        "ERROR 03-29 12:59:53 [core.py:1099] RuntimeError: x",
        "2026-03-04 11:00:00,1 - train - ERROR - KeyError: 'a'",
        "2026-08-10 15:51:21 | CRITICAL | main | TypeError: x",
        "[INFO] train: KeyError: 'a'",
        "[2026-08-10 15:51:21] CRITICAL [olmo:301, rank=0] Uncaught TypeError: x",
        "[NeMo C 2026-08-10 15:51:21 x:1] Uncaught exception in rank 3, going down: KeyError: 'a'",
        R"({"severity": "ERROR", "message": "TypeError: x"})",
        "run ended with KeyError: 'a'",
        "time=\"15:51\" level=error msg=\"TypeError: x\"",
        "ERROR:root:TypeError: x"}) {
    EXPECT_EQ(cause_of(line), "python_exception") << line;
  }
  for (const char* const line :
       {"the ValueError: of it", "    raise ValueError(", "UserWarning: x", "error: 0.01",
        "NOTE - KeyError: 'a'", "Error", "ErrorRate: 0.01", "exceptions.py: done"}) {
    EXPECT_EQ(cause_of(line), "none") << line;
  }
}

TEST(Failure, IsToldByTheNumberOfTheEnd) {
  EXPECT_EQ(cause_of("[ERROR] [launch.py:325:sigkill_handler] ['python'] exits with return code = "
                     "-9"),
            "task_killed");
  EXPECT_EQ(cause_of("mpirun noticed that process rank 1 with PID 4 on node n exited on signal 11 "
                     "(Segmentation fault)."),
            "segmentation_fault");
  EXPECT_EQ(cause_of("OSError: [Errno 121] Remote I/O error: '/data/a'"), "file_system_error");
  EXPECT_EQ(cause_of("command terminated with exit code 137"), "task_killed");
  EXPECT_EQ(cause_of("command terminated with exit code 0"), "none");
  EXPECT_EQ(cause_of("x exits with return code = -2"), "interrupted");
  EXPECT_EQ(cause_of("ERROR:cli.launcher:Rank 2 crashed with exit code -7."), "segmentation_fault");
  EXPECT_EQ(cause_of("TERM_RUNLIMIT: job killed after reaching the run limit."), "time_limit");
  EXPECT_EQ(cause_of("=>> PBS: job killed: mem 9kb exceeded limit 8kb"), "host_oom_kill");
  EXPECT_EQ(cause_of("TERM_OWNER: job killed by owner."), "cancelled");
  EXPECT_EQ(cause_of("a stale: job killed"), "none");
  EXPECT_EQ(cause_of("OSError: [Errno 37] No locks available"), "file_system_error");
  EXPECT_EQ(cause_of("OSError: [Errno 85] Interrupted: '/data/a'"), "file_system_error");
}

// Words that no row of the table knows in this order: the class follows from what they are about.
TEST(Failure, OfAnyExceptionIsToldByItsWords) {
  EXPECT_EQ(cause_of("RuntimeError: insufficient device memory for the optimizer"), "cuda_oom");
  EXPECT_EQ(cause_of("ValueError: grad norm is inf at step 4"), "nan_gradient");
  EXPECT_EQ(cause_of("trainer.Diverged.StopError: loss became nan"), "nan_loss");
  EXPECT_EQ(cause_of("AssertionError: this kernel requires CUDA"), "gpu_unavailable");
  EXPECT_EQ(cause_of("KeyError: checkpoint has 8 shards, they do not match 16"),
            "checkpoint_unreadable");
  EXPECT_EQ(cause_of("lab.errors.ShardNotFoundError: 17"), "tokenizer_or_data_missing");
  EXPECT_EQ(cause_of("RuntimeError: connect to 10.0.0.1 timed out"), "rendezvous_failure");
  EXPECT_EQ(cause_of("ValueError: fp8 is not supported with pipeline parallelism"),
            "configuration_error");
  EXPECT_EQ(cause_of("pyarrow.lib.ArrowInvalid: the Parquet footer is corrupted"),
            "tokenizer_or_data_missing");
  EXPECT_EQ(cause_of("numpy._core._exceptions._ArrayMemoryError: Unable to allocate 96.0 GiB"),
            "host_oom_kill");
  EXPECT_EQ(cause_of("AssertionError: fp8 does not yet support this"), "configuration_error");
  EXPECT_EQ(cause_of("ValueError: heads (25) must be a multiple of 8"), "configuration_error");
  EXPECT_EQ(cause_of("[Rank 7] Work WorkNCCL(SeqNum=1) timed out in blocking wait."),
            "nccl_timeout");
  EXPECT_EQ(cause_of("AssertionError: set --expert-parallel too"), "configuration_error");
  EXPECT_EQ(cause_of("OSError: /models/x is no folder of a model"), "tokenizer_or_data_missing");
  EXPECT_EQ(cause_of("ValueError: the columns a, b are not in the table"),
            "tokenizer_or_data_missing");
  EXPECT_EQ(cause_of("TypeError: ModelConfig.__init__() got an unexpected keyword argument 'a'"),
            "configuration_error");
  EXPECT_EQ(cause_of("ValueError: cannot combine a with tensors"), "configuration_error");
  EXPECT_EQ(cause_of("lab.errors.NoToken: run huggingface-cli login first"), "hf_authentication");
  EXPECT_EQ(cause_of("zlib.error: Error -3 while decompressing data"), "tokenizer_or_data_missing");
  EXPECT_EQ(cause_of("hydra.errors.MissingConfigException: could not find 'model'"),
            "configuration_error");
  EXPECT_EQ(cause_of("a.b.ClientError: An error occurred (Slow) when calling the Put operation: x"),
            "file_system_error");
  for (const char* const line :
       {"ValueError: the nanny was inferior", "TypeError: no value", "KeyError: 'memory'",
        "RuntimeError: a - b -- c", "ValueError: the match is lost"}) {
    EXPECT_EQ(cause_of(line), "python_exception") << line;
  }
}

TEST(Failure, IsToldByAShellAndByTheCLibrary) {
  EXPECT_EQ(cause_of("run.sh: line 4:  4102 Killed                  python a.py"), "task_killed");
  EXPECT_EQ(cause_of("run.sh: line 4:  4102 Illegal instruction     (core dumped) python a.py"),
            "segmentation_fault");
  EXPECT_EQ(cause_of("run.sh: line 4: torchrun: command not found"), "missing_module");
  EXPECT_EQ(cause_of("bash: line 1: /w/train.sh: Permission denied"), "file_system_error");
  EXPECT_EQ(cause_of("python3: a/b.cpp:12: int f(int): Assertion `n > 0' failed."),
            "segmentation_fault");
  EXPECT_EQ(cause_of("F0101 00:00:00.1 90 a.cc:4] Non-OK-status: x: the device halted"),
            "gpu_hardware_error");
  EXPECT_EQ(cause_of("free(): invalid pointer"), "segmentation_fault");
  EXPECT_EQ(cause_of("f(): invalid pointer"), "none");
  EXPECT_EQ(cause_of("  File \"a.py\", line 4: 1 Killed"), "none");
}

TEST(Failure, IsToldByTheSharedMemoryThatNcclCouldNotHave) {
  const std::string warning = "n:1:2 [5] misc/shmutils.cc:72 NCCL WARN ";
  EXPECT_EQ(cause_of(warning + "Error: failed to extend /dev/shm/nccl-Q to 33030532 bytes"),
            "shared_memory_full");
  EXPECT_EQ(cause_of(warning + "Error while creating shared memory segment /dev/shm/nccl-Q (size "
                               "33030528)"),
            "shared_memory_full");
}

TEST(Failure, IsToldByTheReasonThatIsGivenForARefusal) {
  EXPECT_EQ(cause_of("n:1:2 [3] NCCL WARN Call to ibv_reg_mr_iova2 failed with error Cannot "
                     "allocate memory"),
            "locked_memory_limit");
  EXPECT_EQ(cause_of("n:1:2 [3] NCCL WARN Call to ibv_reg_mr failed"), "locked_memory_limit");
  EXPECT_EQ(cause_of("n:1:2 [3] NCCL WARN Call to ibv_reg_mr_iova2 failed with error Invalid "
                     "argument"),
            "nccl_system_error");
  EXPECT_EQ(
      cause_of("ERROR:rerun:Unexpected result nan on rank 3 (message='found NaN in local grad "
               "norm for bucket #3')"),
      "nan_gradient");
  EXPECT_EQ(cause_of("ERROR:rerun:Unexpected result nan on rank 3 (message='found NaN in local "
                     "forward loss')"),
            "nan_loss");
  EXPECT_EQ(cause_of("ERROR:rerun:Unexpected result tensor(nan, device='cuda:6') on rank 22"),
            "nan_loss");
  EXPECT_EQ(cause_of("torch.distributed.DistNetworkError: Broken pipe"), "peer_lost");
  EXPECT_EQ(cause_of("torch.distributed.DistStoreError: Timed out after 601 seconds waiting for "
                     "clients. 504/512 clients joined."),
            "rendezvous_failure");
}

TEST(FinishMarker, IsToldByItsLine) {
  EXPECT_EQ(cause_of("[after training is done] datetime: 2026-01-16 07:32:24 "),
            "finish:training_done");
  EXPECT_EQ(cause_of("exiting program at iteration 50"), "finish:exit_at_iteration");
  EXPECT_EQ(cause_of("[INFO | x]: `Trainer.fit` stopped: `max_steps=50` reached."),
            "finish:max_steps_reached");
  EXPECT_EQ(cause_of("job exited with code 0"), "finish:job_exited");
}

TEST(Failure, OfAnAdapterIsNoNewsOfIt) {
  const std::string told = "n:1:2 [0] net_ib.cc:241 NCCL WARN NET/IB : mlx5_0:1 Got async event : ";
  for (const char* const news : {"GID table change", "client reregistration", "SM change",
                                 "LID change", "P_Key change", "port active"}) {
    EXPECT_EQ(cause_of(told + news), "none") << news;
  }
  EXPECT_EQ(cause_of(told + "port error"), "nccl_system_error");
  EXPECT_EQ(cause_of("n:1:2 [0] mnnvl.cc:61 NCCL WARN MNNVL (cliqueSize 72) is available but not "
                     "working on some system."),
            "nccl_system_error");
}

TEST(Failure, IsNotSeenInOrdinaryLines) {
  EXPECT_EQ(cause_of("srun: error: something else"), "none");
  EXPECT_EQ(cause_of("Failed with error status: CANCELLED: RunManyGraphs"), "none");
  EXPECT_EQ(cause_of("the lecture was CANCELLED AT noon"), "none");
  EXPECT_EQ(cause_of("srun: error: node1: task 1: Exited with exit code 0"), "none");
  EXPECT_EQ(cause_of("job exited with code unknown"), "none");
}

TEST(Failure, KeepsAtMost500BytesThatShowTheCause) {
  const auto event =
      read({std::string(5000, 'x') + "CUDA out of memory" + std::string(5000, 'y'), 7});
  ASSERT_TRUE(event.has_value());
  EXPECT_LE(event->line.size(), 500U);
  EXPECT_NE(event->line.find("CUDA out of memory"), std::string::npos);
  EXPECT_EQ(event->offset, 7U);
}

TEST(LogEvents, SayWhereTheyCame) {
  const std::string step = "Training epoch 0, iteration 1/9 | train_step_timing in s: 1.5\n";
  const ParsedLog log = parse_log("CUDA out of memory\n" + step + " 0: CUDA out of memory\n");
  ASSERT_EQ(log.facts.events.size(), 2U);
  EXPECT_EQ(log.facts.events[0].steps_before, 0);
  EXPECT_EQ(log.facts.events[0].offset, 0U);
  EXPECT_EQ(log.facts.events[1].steps_before, 1);
  EXPECT_EQ(log.facts.events[1].offset, 19 + step.size());
  EXPECT_EQ(log.facts.events[1].line, "CUDA out of memory");
}

TEST(NcclTrace, IsSeen) {
  EXPECT_TRUE(parse_log("host:1:2 [1] NCCL INFO Send: opCount 12 sendbuff 0x7f count 2\n")
                  .facts.nccl_trace_seen);
  EXPECT_FALSE(parse_log("host:1:2 [1] NCCL INFO Bootstrap: Using eth0\n").facts.nccl_trace_seen);
}

}  // namespace
}  // namespace llmb::parser
