// The table of failure.h. The order matters where a line holds several literals: what names the
// cause more closely stands first. A literal is what the block scanner searches for, so it has to
// be rare in ordinary logs; a pattern may then ask for more.
#include <algorithm>
#include <array>

#include "parser/dialects/end_words.h"
#include "parser/dialects/failure_signs_of_files.h"
#include "parser/dialects/failure_signs_of_others.h"

namespace llmb::parser {
namespace signs {
namespace {

// That a run begins, has ended well, or that its script ended otherwise.
constexpr std::array kSignsOfRuns = {
    FailureSign{"training_done", kFinish, "after training is done", ""},
    FailureSign{"training_done", kFinish, "{'train_runtime': ", ""},
    FailureSign{"training_done", kFinish, "\"run_stop\"", R"(:::MLLOG.*"status": *"success")"},
    FailureSign{kRunAborted, kFinish, "\"run_stop\"", R"(:::MLLOG.*"status": *"aborted")"},
    FailureSign{"exit_at_iteration", kFinish, "exiting program at iteration", ""},
    FailureSign{"max_steps_reached", kFinish, "`Trainer.fit` stopped: `max_steps=", ""},
    FailureSign{"trainer_stopped", kFinish, "`Trainer.fit` stopped:", ""},
    FailureSign{"samples_exhausted", kFinish, "no samples left to consume", ""},
    FailureSign{"job_exited", kFinish, "job exited with code 0", R"(code 0\s*$)"},
    // Of HTCondor's log of a job (event 005).
    FailureSign{"job_exited", kFinish, "Normal termination (return value 0)", ""},
    failure("job_exited", "Normal termination (return value ", R"(value -?[1-9])"),
    failure("task_killed", "Abnormal termination (signal "),
    failure("job_exited", "job exited with code ", R"(code -?[0-9]+)"),
    // Of a script that somebody's own told the end of, and of time(1).
    failure("job_exited", ".sh exited with ", R"(\.sh exited with (?:code|status) [1-9])"),
    failure("job_exited", ".sh ended with ", R"(\.sh ended with (?:code|status) [1-9])"),
    failure("job_exited", "ommand exited with non-zero status "),
    failure("job_exited", "Execution failed. User process '"),
    failure("job_exited", "FAILED WITH EXIT CODE ", R"(FAILED WITH EXIT CODE -?[1-9])"),
    by_line("raining complete", end_of_training),
    by_line("raining finished", end_of_training),
    by_line("raining done", end_of_training),
    by_line("inal checkpoint", end_of_training),
    by_line("inal model", end_of_training),
    by_line("inal weights", end_of_training),
    // Hooks run at a program's end: TracebackReader passes over what they raise.
    by_line("Error in atexit", no_event),

    // Launchers that begin again, and what programs print once, when they begin.
    failure(kRestarted, "will restart worker group"),
    failure(kRestarted, " restarts from checkpoint", R"(Trial \S+ restarts from checkpoint)"),
    // Of Ray Train's controller.
    failure(kRestarted, " -> RESTARTING"),
    // Of SkyPilot's controller.
    failure(kRestarted, "==== Recovered. ===="),
    failure(kStarted, "Managed job cluster launched"),
    failure(kRestarted, "ecovered: cluster relaunched in "),
    failure(kRestarted, "Recovered on attempt "),
    failure(kRestarted, "Managed job is recovered on a new cluster"),
    // Of Ray Tune's trials.
    failure(kRestarted, "Restored on ", R"(\bRestored on \S+ from checkpoint)"),
    // A script's banner, and a supervisor's: "run #2 of 4".
    by_line("attempt ", cause_of_banner),
    failure(kRestarted, "] attempt ", kLabelledAttempt),
    failure(kRestarted, ": attempt ", kScriptsAttempt),
    by_line("[try ", cause_of_labelled_try, kLabelledTry),
    by_line("[attempt ", cause_of_labelled_try, kLabelledTry),
    // "attempt=1 t=2025-10-01T20:40:11 (micro batch 1)", of a script that stamps its attempts.
    failure(kRestarted, "attempt=", R"(^attempt=\d+ t=[-0-9T:Z]+(?: \(.*\))?$)"),
    // The same without a stamp, and "try 2:": the first such line begins nothing anew.
    failure(kRestarted, "attempt=", R"(^attempt=(?:[2-9]|[1-9]\d)$)"),
    failure(kRestarted, "try ", R"(^try (?:[2-9]|[1-9]\d):$)"),
    by_line("- try ", cause_of_banner),
    by_line("= try ", cause_of_banner),
    by_line("# try ", cause_of_banner),
    by_line("# submit ", cause_of_banner),
    by_line("# launch ", cause_of_banner),
    by_line("- launch ", cause_of_banner),
    by_line("= launch ", cause_of_banner),
    failure(kRestarted, " launching ",
            R"(^\[(?:attempt|try|run) #?\d+\] .{0,40}\blaunching )"
            R"((?:torchrun|python|srun|composer|accelerate|deepspeed|(?:the )?train))"),
    // A controller's word that goes on with fewer or other nodes: "generation 8: 63 nodes, elastic
    // shrink allowed by policy".
    failure(
        kRestarted, "eneration ",
        R"(\b[Gg]eneration \d+: \d+ (?:nodes|hosts|workers|ranks), (?:elastic|resum|start|form))"),
    // Of Kubernetes' JobSet.
    failure(kRestarted, "restarting all (restartAttempt "),
    failure(kRestarted, "restartAttempt ", R"(\] restartAttempt \d)"),
    failure(kRestarted, "recreating all jobs"),
    // Of Levanter's driver on Ray.
    failure(kRestarted, " Attempt ", R"(Running on [^.]*\. Attempt [2-9])"),
    failure(kRestarted, "run #", R"(\brun #\d+ of \d)"),
    // A wrapper's word behind an attempt: "[attempt 1/3] exit code 1; next attempt in 30 s".
    failure(kRestarted, "exit code ", kNextTry),
    failure(kRestarted, "exit status ", kNextTry),
    failure(kRestarted, " rc=", kNextTry),
    // A wrapper's line with what it runs: "[try 2] 2025-08-05 16:46:31 torchrun --nnodes=1 …".
    failure(kRestarted, "torchrun --", kTryOfCommand),
    failure(kRestarted, "-m torch.distributed.run", kTryOfCommand),
    failure(kRestarted, "accelerate launch ", kTryOfCommand),
    failure(kRestarted, "mpirun -", kTryOfCommand),
    failure(kRestarted, "torchrun --", kPrompt),
    failure(kRestarted, "accelerate launch ", kPrompt),
    failure(kRestarted, " train.py", kPrompt),
    failure(kRestarted, "axolotl train ", kPrompt),
    failure(kRestarted, "llamafactory-cli train ", kPrompt),
    failure(kRestarted, "deepspeed ", kPrompt),
    failure(kStarted, "Setting OMP_NUM_THREADS environment"),
    failure(kStarted, "pyxis: imported docker image"),
    failure(kStarted, "All distributed processes registered"),
    failure(kStarted, "> initializing torch distributed"),
    failure(kStarted, "Initializing TorchBackend in DeepSpeed"),
    failure(kStarted, "NCCL version 2", "^NCCL version 2"),
    failure(kStarted, "restart count", R"(restart count[: ])"),
    failure(kStarted, "restart_count=", R"(restart_count=\d)"),
    failure(kStarted, "restart=", R"(\bstart\w* restart=\d)"),
    failure(kStarted, "started (restart ", R"(\(restart \d+\))"),
    failure(kStarted, "restart ", R"(\brestart #?\d+\b)"),
    failure(kStarted, "RESTART_COUNT=", R"(RESTART_COUNT=\d)"),
    failure(kStarted, "attempt ", R"(starting attempt )"),
    failure(kStarted, "Attempting to start training worker group of size "),
    failure(kStarted, "Restored all states from the checkpoint at "),
    failure(kStarted, "Loading the checkpoint from "),
    failure(kStarted, "Restoring states from the checkpoint path at "),
    failure(kStarted, "loading distributed checkpoint from "),
    failure(kStarted, "> number of parameters on ("),
    failure(kStarted, "Experiments will be logged at "),
    failure(kStarted, "[XPK] Starting workload "),
    failure(kStarted, " Job executing on host: ", R"(^001 \()"),
    failure(kRestarted, "'try_number': '", R"('try_number': '(?:[2-9]|\d\d))"),

};

// What ends a job or one process: the scheduler, memory, the GPU, numbers.
constexpr std::array kSignsOfOne = {
    // The scheduler's own words.
    failure("time_limit", "DUE TO TIME LIMIT"),
    failure("time_limit", "longer than specified deadline"),
    failure("time_limit", "exceeded its active deadline"),
    // Of HTCondor: "The job exceeded allowed execute duration of 1+12:00:00".
    failure("time_limit", "exceeded allowed ", R"(exceeded allowed (?:execute|job) duration)"),
    // Of SageMaker, and of Modal.
    failure("time_limit", "exceeded MaxRuntimeInSeconds"),
    failure("time_limit", "hit its timeout of ", R"(hit its timeout of \d+s)"),
    // Of Flux: "14400.052s: job.exception f2Qj8X type=timeout severity=0 resource allocation …".
    failure("time_limit", "job.exception", R"(job\.exception .*\btype=timeout\b)"),
    failure("cancelled", "job.exception", R"(job\.exception .*\btype=cancel\b)"),
    failure("preempted", "job.exception", R"(job\.exception .*\btype=preempt)"),
    by_line(": job killed", cause_of_killed_job),
    failure("node_failure", "DUE TO NODE FAILURE"),
    failure("node_failure", "Node failure on "),
    failure("node_failure", "lost communication with ", R"(with (?:a remote|its) daemon)"),
    failure("node_failure", "step_launch_notify_io_failure"),
    failure("task_exited", " left with status ", R"(left with status [1-9])"),
    failure("task_exited", "First task exited "),
    failure("interrupted", "srun: sending Ctrl-C to "),
    failure("cancelled", "Job 'raysubmit_", R"(Job 'raysubmit_\w+' was stopped)"),
    failure("job_exited", "Job 'raysubmit_", R"(Job 'raysubmit_\w+' failed)"),
    failure("cancelled", " was cancelled by user request", R"(\bJob \d+ was)"),
    failure("cancelled", "### TASK STOPPED - USER ABORTED"),
    failure("cancelled", "salloc: Job allocation ", R"(has been revoked)"),
    failure("task_failure", "DUE TO TASK FAILURE"),
    failure("task_failure", "*** STEP ", R"(\*\*\* STEP .* FAILED)"),
    failure("srun_launch_error", "task_prolog can not be executed"),
    failure("srun_launch_error", "TaskProlog", R"((?i)TaskProlog.*(?:fail|error|exit))"),
    failure("srun_launch_error", "ask launch failed"),
    // Not "… Job/step already completing or completed".
    failure("srun_launch_error", "Unable to create step for job ",
            R"(error: Unable to create step for job \d+: (?:More|Re[a-z]+ed|Memory|Invalid))"),
    failure("srun_launch_error", " launch failed: ", R"(srun: error: task)"),
    failure("preempted", "DUE TO PREEMPTION"),
    failure("preempted", "DUE TO JOB REQUEUE"),
    // Of HTCondor's slots, and of its log of a job (event 004).
    failure("preempted", "State change: preempting claim"),
    failure("preempted", " due to Spot VM preemption"),
    failure("preempted", " Job was evicted.", R"(^004 \()"),
    failure("preempted", "termination is imminent"),
    failure("preempted", "auto-requeue signal"),
    failure("preempted", "reemption ",
            R"((?i)(?:sigterm|received|reached|detected|got|handling|notice).{0,40}\bpreemption |)"
            R"(\bpreemption (?:notice|signal|event|sync)|about to be preempted)"),
    failure("preempted", "nterruption notice"),
    // Of Kubernetes: its scheduler's, kubelet's and Kueue's words, the node's controller's.
    failure("preempted", "Preempted by "),
    failure("preempted", "Preempted to accommodate "),
    failure("preempted", "Preempted in order to "),
    // Of SkyPilot's controller, which cannot tell, and of Volcano's scheduler.
    failure("preempted", "Cluster is preempted or failed"),
    failure("preempted", "evicted, because of "),
    failure("preempted", "imminent node shutdown"),
    // Of XLA's coordination service, and of who watches a cloud's metadata.
    failure("preempted", "this task will be preempted at "),
    failure("preempted", "being reclaimed",
            R"((?i)\b(?:node|instance|vm)\b.{0,30} being reclaimed)"),
    failure("node_failure", "NodeNotReady"),
    failure("node_failure", "Node is not ready"),
    failure("preempted", " will be terminated", R"((?i)\b(?:instance|node|vm)\b.*will be term)"),
    failure("preempted", "preempted",
            R"((?i)\b(?:job|node|instance|pod|vm)\b.{0,40}[ '(]preempted)"),
    failure("cancelled", " CANCELLED AT ", R"(\*\*\* (?:STEP|JOB) .* CANCELLED AT )"),
    // A launcher may put a host before it: "asahi: KeyboardInterrupt".
    failure("interrupted", "KeyboardInterrupt",
            R"(^(?:\[[\w.-]+\] )?KeyboardInterrupt\b|^[a-z][\w.-]*: KeyboardInterrupt$|)"
            R"(^\^C(?:.*\b)?KeyboardInterrupt\b)"),
    failure("interrupted", "received SIGINT"),
    failure("interrupted", "caught SIGINT"),
    failure("interrupted", "SignalException: Process ", R"(got signal: [12]\b)"),

    // Memory.
    by_line("ibv_reg_", cause_of_refused_registration),
    by_line("nable to register memory", cause_of_refused_registration),
    failure("locked_memory_limit", "ibv_create_",
            R"((?i)ibv_create_\w+.*(?:allocate memory|errno 12))"),
    failure("locked_memory_limit", "memlock limit", R"(memlock limits? (?:are|is) set too low)"),
    failure("locked_memory_limit", "max locked memory", R"((?i)please set max locked memory)"),
    failure("host_oom_kill", "ray.exceptions.OutOfMemoryError"),
    failure("host_oom_kill", "killed due to memory pressure"),
    failure("host_oom_kill", " memory limit", R"((?i)exceeded (?:\w+ )?memory limit)"),
    failure("host_oom_kill", "Memory cgroup out of memory: Kill"),
    failure("host_oom_kill", "oom-kill:constraint="),
    failure("host_oom_kill", "java.lang.OutOfMemoryError"),
    failure("host_oom_kill", "std::bad_alloc"),
    failure("host_oom_kill", "low on resource: memory"),
    failure("host_oom_kill", "insufficient system memory"),
    failure("host_oom_kill", "System OOM encountered"),
    failure("disk_full_or_quota", "low on resource: ", R"(ephemeral-storage|inodes)"),
    failure("disk_full_or_quota", "ephemeral local storage usage"),
    failure("disk_full_or_quota", "ephemeral storage limit"),
    failure("disk_full_or_quota", "Usage of EmptyDir volume "),
    // Of Ray's monitor of a node's memory.
    failure("host_oom_kill", "exceeds the memory usage threshold"),
    failure("host_oom_kill", "the node running low on memory"),
    failure("host_oom_kill", "exit type: NODE_OUT_OF_MEMORY"),
    failure("host_oom_kill", "may have exceeded K8s pod memory limits"),
    failure("host_oom_kill", "node had condition", R"(\bMemoryPressure\b)"),
    failure("disk_full_or_quota", "node had condition", R"(\bDiskPressure\b)"),
    // Of every device that torch knows: "XPU out of memory. Tried to allocate …".
    failure("cuda_oom", "out of memory. Tried to allocate"),
    failure("cuda_oom", "HIP out of memory"),
    failure("cuda_oom", "CUDA out of memory"),
    failure("cuda_oom", "CUDA error: out of memory"),
    failure("cuda_oom", "OutOfMemoryError: "),
    failure("cuda_oom", "out of memory",
            R"((?i)\b(?:cuda|hip|npu|xpu|hpu|gpu|device|triton|hbm)\b.{0,30}: out of memory|)"
            R"(^out of memory$)"),
    failure("cuda_oom", "PT_DEVMEM Allocation failed"),
    failure("cuda_oom", "RESOURCE_EXHAUSTED: Out of memory"),
    failure("cuda_oom", "RESOURCE_EXHAUSTED: ", R"((?i)memory|alloc)"),
    failure("cuda_oom", "llocation of size ", R"((?i)workspace|device|hbm)"),
    failure("cuda_oom", "ailed to alloc", R"((?i)failed to alloc\w*.{0,40}\b(?:device|gpu|hbm)\b)"),
    in_error("cuda_oom", "No available memory for the cache blocks"),
    in_error("cuda_oom", "less than desired GPU memory utilization"),
    failure("cuda_oom", "CUBLAS_STATUS_ALLOC_FAILED"),
    failure("cuda_oom", "NVJPEG_STATUS_ALLOCATOR_FAILURE"),
    // Not "no oom_kill event".
    failure("host_oom_kill", "oom-kill", R"((?i)\b(?:detected [1-9]\d*|an?|some) oom-kill)"),
    failure("host_oom_kill", "oom_kill", R"((?i)\b(?:detected [1-9]\d*|an?|some) oom_kill)"),
    failure("host_oom_kill", "Out Of Memory", R"(tasks? [0-9,-]+: Out Of Memory)"),
    failure("host_oom_kill", "Out of memory: Kill"),
    failure("host_oom_kill", "OOMKilled"),
    failure("host_oom_kill", "DataLoader worker ", R"(killed by signal: Killed)"),
    failure("host_oom_kill", "Cannot allocate memory"),
    failure("host_oom_kill", "MemoryError", R"(^MemoryError\b)"),
    failure("shared_memory_full", "DataLoader worker ", R"(killed by signal: Bus error)"),
    failure("file_limit", "Too many open files"),
    failure("shared_memory_full", "insufficient shared memory"),
    in_error("shared_memory_full", "unable to allocate shared memory"),
    in_error("shared_memory_full", "unable to open shared memory object"),
    in_error("shared_memory_full", "unable to write to file </torch_"),

    // The GPU and its driver.
    failure("gpu_hardware_error", "NVRM: Xid",
            R"(Xid \([^)]*\): (?:48|6[1-4]|69|74|79|9[245]|1[0-7][0-9])\b)"),
    failure("illegal_memory_access", "NVRM: Xid", R"(Xid \([^)]*\): 31\b)"),
    failure("gpu_process_error", "NVRM: Xid"),
    failure("gpu_hardware_error", "SXid (PCI", R"(SXid \([^)]*\): \d+, Fatal)"),
    failure("gpu_hardware_error", " amdgpu: ",
            R"((?i)amdgpu: .*(?:gpu reset begin|failed to respond|uncorrectable hardware error|)"
            R"(ring .*timeout|gpu hang|ras error))"),
    failure("illegal_memory_access", " amdgpu: ", R"(amdgpu: .*page fault)"),
    failure("illegal_memory_access", "Memory access fault by GPU node"),
    failure("gpu_hardware_error", "HSA_STATUS_ERROR"),
    failure("gpu_hardware_error", "HW Exception by GPU node"),
    // "encountered uncorrectable memory error", not the counters of a health check.
    failure("gpu_hardware_error", "ncorrectable ",
            R"((?i)(?:encountered|detected|reported)(?: an)? uncorrectable (?:\w+ ){0,2}error\b|)"
            R"(uncorrectable (?:hardware|ecc|nvlink) error\b(?:[^:=]|$))"),
    failure("gpu_hardware_error", "ncorrectable ",
            R"((?i)uncorrectable (?:\w+ ){0,3}error (?:is |was |has been )?(?:det|enc|rep))"),
    failure("gpu_hardware_error", "MULTI BIT ECC ERROR"),
    failure("gpu_hardware_error", "NRT_EXEC", R"(NRT_EXEC_HW_ERR)"),
    by_number("nvml error: ", cause_of_nvml_message),
    failure("gpu_hardware_error", "SLICE_FAILURE_"),
    failure("gpu_hardware_error", "Session is failing", R"(session error)"),
    failure("cuda_error", "no kernel image is available"),
    failure("gpu_unavailable", "rror 802", R"((?i)error 802\b)"),
    failure("gpu_unavailable", "driver on your system is too old (found version"),
    in_error("gpu_unavailable", "setup doesn't support bf16/gpu"),
    failure("gpu_unavailable", "abric manager",
            R"((?i)fabric manager.*(?:not|fail|error|stopped|inactive))"),
    failure("gpu_unavailable", "abric Manager",
            R"((?i)fabric manager.*(?:not|fail|error|stopped|inactive))"),
    failure("gpu_unavailable", "Core(s) not available"),
    failure("gpu_unavailable", "The TPU is already in use by process "),
    failure("gpu_unavailable", "nrt_init", R"((?i)nrt_init.*(?:fail|error))"),
    failure("gpu_unavailable", "synDeviceAcquire", R"((?i)synDeviceAcquire.*(?:fail|error|busy))"),
    failure("gpu_hardware_error", "fallen off the bus"),
    failure("gpu_hardware_error", "GPU is lost"),
    failure("gpu_hardware_error", "Unable to determine the device handle for"),
    failure("gpu_unavailable", "CUDA driver version is insufficient"),
    failure("gpu_unavailable", "no CUDA-capable device is detected"),
    in_error("gpu_unavailable", "Found no NVIDIA driver on your system"),
    in_error("gpu_unavailable", "CUDA unknown error"),
    failure("gpu_unavailable", "No CUDA GPUs are available"),
    failure("gpu_unavailable", "Failed to initialize NVML"),
    failure("gpu_unavailable", "Driver/library version mismatch",
            R"((?i)\b(?:nvml|error|fail\w*)\b.*Driver/library version mismatch)"),
    failure("gpu_unavailable", "NVIDIA-SMI has failed"),
    failure("gpu_unavailable", "No devices were found", R"(^No devices were found\s*$)"),
    failure("gpu_unavailable", "CUDA-capable device(s) is/are busy or unavailable"),
    failure("illegal_memory_access", "an illegal memory access was encountered"),
    failure("device_side_assert", "device-side assert triggered"),
    failure("device_side_assert", "evice-side assertion `"),  // of ROCm
    failure("device_side_assert", "], thread: [", R"(Assertion .* failed)"),
    by_number("CUDA_ERROR_", cause_of_cuda_error),
    by_number("CUDA error: ", cause_of_cuda_message),
    // Of NCCL: "Cuda failure 719 'unspecified launch failure'" and "CUDA error 101 'invalid …'".
    by_line("Cuda failure ", cause_of_quoted_cuda_message),
    // Of nccl-tests.
    by_line("Test CUDA failure ", cause_of_quoted_cuda_message),
    by_line("NCCL WARN ", cause_of_quoted_cuda_message),
    // ptxas: "ptxas fatal   : Value 'sm_103a' is not defined for option 'gpu-name'".
    failure("missing_module", "fatal   : ", "ptxas"),
    failure("cuda_error", "rocBLAS error: "),
    by_number("HIP error: ", cause_of_cuda_message),
    in_error("cuda_error", "CUDA Error: "),
    in_error("cuda_error", "cuDNN Error"),
    in_error("cuda_error", "cuBLAS Error"),
    in_error("cuda_error", "CUDA driver error"),
    in_error("cuda_error", "Triton Error [CUDA]"),
    failure("cuda_error", "nrt_load status", R"(nrt_load status=[1-9])"),
    failure("cuda_error", "NRT_EXEC", R"((?i)error.*NRT_EXEC|NRT_EXEC\w*(?:ERR|FAIL))"),
    failure("cuda_error", "CUDNN_STATUS_", R"((?i)error.*CUDNN_STATUS_[A-Z_]*)"),
    failure("cuda_error", "[cudnn_frontend] Error: "),
    failure("cuda_error", "CUBLAS_STATUS_", R"((?i)error.*CUBLAS_STATUS_[A-Z_]*)"),

    // Numbers.
    in_error("nan_loss", "found NaN in local forward loss"),
    in_error("nan_loss", "found Inf in local forward loss"),
    in_error("nan_gradient", "found NaN in local"),
    in_error("nan_gradient", "gradients are scaled down to minimum"),
    in_error("nan_gradient", "found Inf in local"),
    failure("nan_gradient", "Unexpected result ",
            R"(Unexpected result (?:tensor\()?-?(?:nan|inf).*\bgrad)"),
    failure("nan_loss", "Unexpected result ", R"(Unexpected result (?:tensor\()?-?(?:nan|inf))"),
    failure("nan_loss", "oss is NaN"),
    failure("nan_loss", "NaN loss", R"((?i)\b(?:abort|stop|exit|terminat|end)\w* .{0,40}NaN loss)"),
    // Of Lightning's EarlyStopping.
    failure("nan_loss", " is not finite. Previous best value", R"(loss\S* = \S+ is not finite)"),
    failure("nan_loss", "oss is not finite", R"((?i)abort|stop|exit|halt|fatal|error|giving up)"),
    failure("nan_loss", "oss became ", R"((?i)oss became (?:nan|inf|non-finite))"),
    failure("nan_loss", "oss is nan", R"((?i)error|fatal|abort|stop|exit|diverge|giv(?:e|ing) up)"),
    in_error("nan_gradient", "The total norm of order ", R"(non-finite)"),
    // Of home-made trainers' logfmt and JSON.
    failure("nan_loss", "on-finite loss", R"((?i)fatal|abort|stop|exit|halt)"),
    failure("nan_gradient", "rad_norm is nan", R"((?i)fatal|abort|stop|exit|halt)"),
    failure("nan_gradient", "radient norm ",
            R"((?i)radient norm (?:is |=|= )?(?:nan|inf)\b.*\b(?:abort|stop|exit|halt|giving up))"),
    failure("nan_gradient", "radient norm is nan", R"((?i)fatal|abort|stop|exit|halt|giving up)"),
    failure("nan_loss", "=nan ",
            R"((?i)\b(?:loss|objective)=nan\b.*\b(?:abort|stop|exit|halt|giv(?:e|ing) up))"),
};

constexpr auto kSigns = [] {
  constexpr std::size_t kOfOne = kSignsOfRuns.size() + kSignsOfOne.size() + kSignsOfFiles.size();
  std::array<FailureSign, kOfOne + kSignsOfOthers.size() + kSignsOfExceptions.size()> all;
  auto end = std::copy(kSignsOfRuns.begin(), kSignsOfRuns.end(), all.begin());
  end = std::copy(kSignsOfOne.begin(), kSignsOfOne.end(), end);
  end = std::copy(kSignsOfFiles.begin(), kSignsOfFiles.end(), end);
  end = std::copy(kSignsOfOthers.begin(), kSignsOfOthers.end(), end);
  std::copy(kSignsOfExceptions.begin(), kSignsOfExceptions.end(), end);
  return all;
}();

}  // namespace
}  // namespace signs

std::span<const FailureSign> failure_signs() {
  return signs::kSigns;
}

}  // namespace llmb::parser
