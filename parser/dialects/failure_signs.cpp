// The table of failure.h. The order matters where a line holds several literals: what names the
// cause more closely stands first. A literal is what the block scanner searches for, so it has to
// be rare in ordinary logs; a pattern may then ask for more.
#include <algorithm>
#include <array>

#include "parser/dialects/exception_cause.h"
#include "parser/dialects/exit_status.h"
#include "parser/dialects/failure.h"

namespace llmb::parser {
namespace {

constexpr auto kFinish = LogEvent::Kind::finish_marker;
constexpr auto kFailure = LogEvent::Kind::failure;

constexpr std::string_view kRefusedValue = R"(^(?:[A-Za-z_]\w*\.)*\w*Error: )";
// What any exception or logged error says of a file, whoever raised it.
constexpr std::string_view kErrorOfFile =
    R"(^(?:\w+\.)*(?:[A-Z]\w*(?:Error|Exception)|Exception): )";

// `words` of a message whose exception ends in Error: not searched for in all lines.
constexpr FailureSign in_error(std::string_view cause, std::string_view words,
                               std::string_view pattern = {}) {
  return {cause, kFailure, "Error: ", pattern, nullptr, nullptr, words};
}

// Any exception in whose last line the literal stands: its class by type and words.
constexpr FailureSign any_exception(std::string_view literal) {
  return {{}, kFailure, literal, {}, nullptr, cause_of_exception};
}

constexpr FailureSign by_number(std::string_view literal,
                                std::string_view (*cause_by)(std::string_view),
                                std::string_view pattern = {}) {
  return {{}, LogEvent::Kind::failure, literal, pattern, cause_by};
}

// What a program says that ends itself; a crash where the words say nothing.
std::string_view cause_of_fatal_words(std::string_view rest) {
  const std::string_view cause = cause_of_native_exception(rest);
  return cause.empty() ? "segmentation_fault" : cause;
}

constexpr FailureSign by_words(std::string_view literal, std::string_view pattern) {
  return by_number(literal, cause_of_fatal_words, pattern);
}

constexpr FailureSign failure(std::string_view cause, std::string_view literal,
                              std::string_view pattern = {}) {
  return {cause, kFailure, literal, pattern};
}

// What ends a job or one process: the scheduler, memory, the GPU, numbers, files.
constexpr std::array kSignsOfOne = {
    FailureSign{"training_done", kFinish, "after training is done", ""},
    FailureSign{"training_done", kFinish, "{'train_runtime': ", ""},
    FailureSign{"training_done", kFinish, "\"run_stop\"", R"(:::MLLOG.*"status": *"success")"},
    FailureSign{"exit_at_iteration", kFinish, "exiting program at iteration", ""},
    FailureSign{"max_steps_reached", kFinish, "`Trainer.fit` stopped: `max_steps=", ""},
    FailureSign{"trainer_stopped", kFinish, "`Trainer.fit` stopped:", ""},
    FailureSign{"samples_exhausted", kFinish, "no samples left to consume", ""},
    FailureSign{"job_exited", kFinish, "job exited with code 0", R"(code 0\s*$)"},
    failure("job_exited", "job exited with code ", R"(code -?[0-9]+)"),

    // The scheduler's own words.
    failure("time_limit", "DUE TO TIME LIMIT"),
    failure("node_failure", "DUE TO NODE FAILURE"),
    failure("node_failure", "Node failure on "),
    failure("node_failure", "lost communication with a remote daemon"),
    failure("task_failure", "DUE TO TASK FAILURE"),
    failure("task_failure", "*** STEP ", R"(\*\*\* STEP .* FAILED)"),
    failure("srun_launch_error", "TaskProlog", R"((?i)TaskProlog.*(?:fail|error|exit))"),
    failure("srun_launch_error", "ask launch failed"),
    failure("srun_launch_error", " launch failed: ", R"(srun: error: task)"),
    failure("preempted", "DUE TO PREEMPTION"),
    failure("preempted", "DUE TO JOB REQUEUE"),
    failure("preempted", "termination is imminent"),
    failure("preempted", "preempted", R"((?i)\b(?:job|node|instance|pod|vm)\b.{0,40}\bpreempted)"),
    failure("cancelled", " CANCELLED AT ", R"(\*\*\* (?:STEP|JOB) .* CANCELLED AT )"),
    failure("interrupted", "KeyboardInterrupt", R"(^KeyboardInterrupt\b)"),
    failure("interrupted", "SignalException: Process ", R"(got signal: 2\b)"),

    // Memory.
    failure("locked_memory_limit", "ibv_reg_",
            R"((?i)ibv_reg_\w+.*(?:allocate memory|errno 12|fail))"),
    failure("locked_memory_limit", "ibv_create_",
            R"((?i)ibv_create_\w+.*(?:allocate memory|errno 12))"),
    failure("host_oom_kill", "ray.exceptions.OutOfMemoryError"),
    failure("host_oom_kill", "killed due to memory pressure"),
    failure("host_oom_kill", " memory limit", R"((?i)exceeded (?:\w+ )?memory limit)"),
    failure("host_oom_kill", "Memory cgroup out of memory: Kill"),
    failure("host_oom_kill", "std::bad_alloc"),
    failure("host_oom_kill", "low on resource: memory"),
    failure("disk_full_or_quota", "low on resource: ephemeral-storage"),
    failure("host_oom_kill", "node had condition", R"(\bMemoryPressure\b)"),
    failure("disk_full_or_quota", "node had condition", R"(\bDiskPressure\b)"),
    // Of every device that torch knows: "XPU out of memory. Tried to allocate …".
    failure("cuda_oom", "out of memory. Tried to allocate"),
    failure("cuda_oom", "HIP out of memory"),
    failure("cuda_oom", "CUDA out of memory"),
    failure("cuda_oom", "CUDA error: out of memory"),
    failure("cuda_oom", "OutOfMemoryError: "),
    failure("cuda_oom", "out of memory",
            R"((?i)\b(?:cuda|hip|npu|xpu|hpu|gpu|device|triton|hbm)\b.{0,30}: out of memory)"),
    failure("cuda_oom", "RESOURCE_EXHAUSTED: Out of memory"),
    failure("cuda_oom", "RESOURCE_EXHAUSTED: ", R"((?i)memory|alloc)"),
    failure("cuda_oom", "llocation of size ", R"((?i)workspace|device|hbm)"),
    failure("cuda_oom", "ailed to alloc", R"((?i)failed to alloc\w*.{0,40}\b(?:device|gpu|hbm)\b)"),
    in_error("cuda_oom", "No available memory for the cache blocks"),
    in_error("cuda_oom", "less than desired GPU memory utilization"),
    failure("cuda_oom", "CUBLAS_STATUS_ALLOC_FAILED"),
    failure("cuda_oom", "Cuda failure ", R"(Cuda failure (?:[0-9]+ )?'out of memory')"),
    failure("host_oom_kill", "oom-kill", R"((?i)detected .*oom-kill|oom-kill event)"),
    failure("host_oom_kill", "oom_kill", R"((?i)detected .*oom_kill|oom_kill event)"),
    failure("host_oom_kill", "Out Of Memory", R"(tasks? [0-9,-]+: Out Of Memory)"),
    failure("host_oom_kill", "Out of memory: Kill"),
    failure("host_oom_kill", "OOMKilled"),
    failure("host_oom_kill", "DataLoader worker ", R"(killed by signal: Killed)"),
    failure("host_oom_kill", "Cannot allocate memory"),
    failure("host_oom_kill", "MemoryError", R"(^MemoryError\b)"),
    failure("shared_memory_full", "DataLoader worker ", R"(killed by signal: Bus error)"),
    failure("shared_memory_full", "insufficient shared memory"),
    in_error("shared_memory_full", "unable to allocate shared memory"),
    in_error("shared_memory_full", "unable to open shared memory object"),
    in_error("shared_memory_full", "unable to write to file </torch_"),

    // The GPU and its driver.
    failure("gpu_hardware_error", "NVRM: Xid",
            R"(Xid \([^)]*\): (?:48|6[1-4]|69|74|79|9[245]|1[1-4][0-9])\b)"),
    failure("illegal_memory_access", "NVRM: Xid", R"(Xid \([^)]*\): 31\b)"),
    failure("gpu_process_error", "NVRM: Xid"),
    failure("gpu_hardware_error", "SXid (PCI", R"(SXid \([^)]*\): \d+, Fatal)"),
    failure(
        "gpu_hardware_error", " amdgpu: ",
        R"((?i)amdgpu: .*(?:gpu reset begin|failed to respond|ring .*timeout|gpu hang|ras error))"),
    failure("illegal_memory_access", "Memory access fault by GPU node"),
    failure("gpu_hardware_error", "HSA_STATUS_ERROR"),
    failure("gpu_hardware_error", "HW Exception by GPU node"),
    failure("gpu_hardware_error", "uncorrectable hardware error"),
    failure("gpu_hardware_error", "SLICE_FAILURE_"),
    failure("gpu_hardware_error", "Session is failing", R"(session error)"),
    failure("gpu_unavailable", "no kernel image is available"),
    failure("gpu_unavailable", "rror 802", R"((?i)error 802\b)"),
    in_error("gpu_unavailable", "driver on your system is too old"),
    failure("gpu_unavailable", "abric manager",
            R"((?i)fabric manager.*(?:not|fail|error|stopped|inactive))"),
    failure("gpu_unavailable", "abric Manager",
            R"((?i)fabric manager.*(?:not|fail|error|stopped|inactive))"),
    failure("gpu_unavailable", "nrt_init", R"((?i)nrt_init.*(?:fail|error))"),
    failure("gpu_unavailable", "synDeviceAcquire", R"((?i)synDeviceAcquire.*(?:fail|error|busy))"),
    failure("gpu_hardware_error", "uncorrectable ECC error"),
    failure("gpu_hardware_error", "Uncorrectable NVLink error"),
    failure("gpu_hardware_error", "uncorrectable NVLink error"),
    failure("gpu_hardware_error", "fallen off the bus"),
    failure("gpu_hardware_error", "Unable to determine the device handle for"),
    failure("gpu_unavailable", "CUDA driver version is insufficient"),
    failure("gpu_unavailable", "no CUDA-capable device is detected"),
    in_error("gpu_unavailable", "Found no NVIDIA driver on your system"),
    in_error("gpu_unavailable", "CUDA unknown error"),
    failure("gpu_unavailable", "No CUDA GPUs are available"),
    failure("gpu_unavailable", "Failed to initialize NVML"),
    failure("gpu_unavailable", "NVIDIA-SMI has failed"),
    failure("gpu_unavailable", "CUDA-capable device(s) is/are busy or unavailable"),
    failure("gpu_unavailable", "CUDA error: system not yet initialized"),
    failure("gpu_unavailable", "CUDA error: invalid device ordinal"),
    failure("illegal_memory_access", "an illegal memory access was encountered"),
    failure("illegal_memory_access", "CUDA error: misaligned address"),
    failure("device_side_assert", "device-side assert triggered"),
    failure("device_side_assert", "], thread: [", R"(Assertion .* failed)"),
    by_number("CUDA_ERROR_", cause_of_cuda_error),
    failure("cuda_error", "CUDA error: "),
    failure("cuda_error", "HIP error: "),
    in_error("cuda_error", "CUDA Error: "),
    in_error("cuda_error", "cuDNN Error"),
    in_error("cuda_error", "cuBLAS Error"),
    in_error("cuda_error", "CUDA driver error"),
    in_error("cuda_error", "Triton Error [CUDA]"),
    failure("cuda_error", "nrt_", R"(\bnrt_\w+ status=[1-9])"),
    failure("cuda_error", "NRT_EXEC", R"((?i)error.*NRT_EXEC|NRT_EXEC\w*(?:ERR|FAIL))"),
    failure("cuda_error", "CUDNN_STATUS_", R"((?i)error.*CUDNN_STATUS_[A-Z_]*)"),
    failure("cuda_error", "CUBLAS_STATUS_", R"((?i)error.*CUBLAS_STATUS_[A-Z_]*)"),

    // Numbers.
    in_error("nan_loss", "found NaN in local forward loss"),
    in_error("nan_loss", "found Inf in local forward loss"),
    in_error("nan_gradient", "found NaN in local"),
    in_error("nan_gradient", "found Inf in local"),
    failure("nan_loss", "Unexpected result ", R"(Unexpected result -?(?:nan|inf))"),
    failure("nan_loss", "oss is NaN"),
    failure("nan_loss", "loss is nan", R"((?i)error|abort|stop|exit|diverge)"),
    in_error("nan_gradient", "The total norm of order ", R"(non-finite)"),

    // Files, modules, tokens.
    in_error("disk_full_or_quota", "PytorchStreamWriter failed"),
    in_error("disk_full_or_quota", "[enforce fail at inline_container"),
    failure("disk_full_or_quota", "No space left on device"),
    failure("disk_full_or_quota", "Disk quota exceeded"),
    failure("file_limit", "Too many open files"),
    failure("file_limit", "can't start new thread"),
    failure("file_limit", "hread creation failed"),
    failure("file_limit", "pthread_create", R"(pthread_create\b.*(?:fail|: Resource temporarily))"),
    failure("file_system_error", "Stale file handle"),
    failure("file_system_error", "Transport endpoint is not connected"),
    in_error("file_system_error", "Input/output error",
             R"((?i)error\b.*Input/output error|failed)"),
    in_error("file_system_error", " cannot be opened", kErrorOfFile),
    in_error("file_limit", "received 0 items of ancdata"),
    in_error("hf_authentication", "GatedRepoError"),
    in_error("hf_authentication", "gated repo", R"((?i)cannot access|trying to access)"),
    in_error("hf_authentication", "401 Client Error", R"(huggingface|hf\.co|Unauthorized for url)"),
    in_error("hf_authentication", "403 Client Error", R"(huggingface|hf\.co)"),
    in_error("hf_authentication", "Invalid user token"),
    in_error("hf_unreachable", "429 Client Error", R"(huggingface|hf\.co|Too Many Requests)"),
    failure("hf_unreachable", "couldn't connect to 'https://huggingface.co'"),
    in_error("hf_unreachable", "LocalEntryNotFoundError"),
    failure("hf_unreachable", "OfflineModeIsEnabled"),
    failure("hf_unreachable", "huggingface.co",
            R"((?i)name resolution|NameResolutionError|Max retries exceeded)"),
    failure("container_error", "Error response from daemon"),
    failure("container_error", "OCI runtime "),
    failure("container_error", "FATAL:   ", R"(^FATAL: +(?:[a-z]|While))"),
    failure("missing_module", "ModuleNotFoundError: "),
    failure("missing_module", "ImportError: ", R"(^ImportError: )"),
    failure("missing_module", "cannot open shared object file"),
    failure("missing_module", ": undefined symbol: "),
    failure("missing_module", " not found (required by "),
    failure("missing_module", ": No module named "),
    failure("tokenizer_or_data_missing",
            "FileNotFoundError: ", R"(^(?:\w+\.)*FileNotFoundError: )"),
    in_error("missing_module", "cannot import name "),
    in_error("missing_module", "ailed to find C compiler"),
    in_error("missing_module", "annot find a working triton installation"),
    in_error("missing_module", "Error building extension "),
    in_error("missing_module", "indicate binary incompatibility"),
    in_error("tokenizer_or_data_missing", "RepositoryNotFoundError"),
    in_error("tokenizer_or_data_missing", "Can't load tokenizer for "),
    in_error("tokenizer_or_data_missing", "is not a valid model identifier"),
    failure("tokenizer_or_data_missing", "can't open file '"),
    in_error("tokenizer_or_data_missing", "could not parse ModelProto"),
    in_error("tokenizer_or_data_missing", "No such file or directory",
             R"(^(?:OSError|RuntimeError|Exception|AssertionError): .*\.(?:idx|bin|model|json)\b)"),
    in_error("tokenizer_or_data_missing", "o file found "),
    in_error("tokenizer_or_data_missing", "o files found "),
    in_error("checkpoint_unreadable", "SafetensorError"),
    in_error("checkpoint_unreadable", "UnpicklingError"),
    in_error("checkpoint_unreadable", "PytorchStreamReader failed"),
    failure("checkpoint_unreadable", "CheckpointException"),
    failure("checkpoint_unreadable", "CheckpointingException"),
    in_error("checkpoint_unreadable", "Error(s) in loading state_dict"),
    in_error("checkpoint_unreadable", "Missing key in checkpoint"),
    failure("checkpoint_unreadable", "exit-on-missing-checkpoint", R"(set \.\.\. exiting)"),
    // A parameter's name that one side does not know.
    failure("checkpoint_unreadable", "KeyError: '",
            R"(KeyError: '[^' ]+\.(?:weight|bias|scale|_extra_state)'$)"),
    failure("configuration_error", "error: unrecognized arguments"),
    failure("configuration_error", "error: the following arguments are required"),
    failure("configuration_error", "error: argument --"),
    failure("configuration_error", "ERROR: Could not consume arg"),
    failure("configuration_error", "ConfigCompositionException"),
    failure("configuration_error", "Could not override '"),
    failure("configuration_error", "rror parsing override '"),
    failure("configuration_error", "omegaconf.errors.", R"(^omegaconf\.errors\.\w+)"),
    failure("configuration_error", "is not in struct", R"(^(?:\w+\.)*\w+: |Key ')"),
    in_error("configuration_error", "WORLD_SIZE", kRefusedValue),
    in_error("configuration_error", "nvalid parallel ", kRefusedValue),
    in_error("configuration_error", "must be a multiple of ", kRefusedValue),
    in_error("configuration_error", "divisible by ", kRefusedValue),
    in_error("configuration_error", "world size ", kRefusedValue),
    in_error("configuration_error", "world_size ", kRefusedValue),

};

// What ranks say of each other, launchers of ranks, and a process with its last line.
constexpr std::array kSignsOfOthers = {
    // Ranks that talk to each other.
    failure("nccl_timeout", "Watchdog caught collective operation timeout"),
    failure("nccl_timeout", "Timeout at NCCL work"),
    failure("nccl_timeout", "timed out in blocking wait"),
    failure("nccl_timeout", "Some NCCL operations have failed or timed out"),
    failure("nccl_timeout", "DeepEP error: timeout"),
    failure("nccl_timeout", "eartbeat monitor timed out"),
    failure("nccl_timeout", "atchdog got stuck"),
    failure("nccl_timeout", "ProcessGroupNCCL watchdog hang"),
    // NVRx: a rank went silent, and its monitor ends it.
    failure("nccl_timeout", "Did not get ", R"(Did not get (?:initial|subsequent) heartbeat)"),
    failure("rendezvous_failure", "cluster registration failed"),
    failure("rendezvous_failure", "DEADLINE_EXCEEDED: ", R"((?i)register|\[init\]|connect)"),
    failure("nccl_timeout",
            "DEADLINE_EXCEEDED: ", R"((?i)barrier|coordination|collective|heartbeat)"),
    failure("nccl_timeout", "Termination timeout for "),
    failure("nccl_timeout", "Getting socket times out"),
    failure("nccl_timeout", "The Notify register has not received"),
    failure("peer_lost", "the JAX distributed service detected fatal errors"),
    failure("peer_lost", "eartbeat timeout", R"((?i)task.*heartbeat timeout)"),
    failure("peer_lost", "missing heartbeats"),
    in_error("peer_lost", "ncclRemoteError"),
    in_error("peer_lost", "remote process exited or there was a network error"),
    in_error("nccl_system_error", "ncclSystemError"),
    in_error("nccl_system_error", "unhandled system error"),
    failure("peer_lost", "Connection closed by remote peer"),
    failure(
        "nccl_system_error", "NCCL WARN ",
        R"(NCCL WARN NET/.*(?i:error|fail|couldn't|unable|timed out|refused|status=|async event))"),
    failure("nccl_system_error", "NCCL WARN ",
            R"(NCCL WARN (?:socket|(?:Call to |Connect |Net |bootstrap|\[?Proxy).*)"
            R"((?i:error|fail|timed out|refused)))"),
    failure("nccl_system_error", "Transport retry count exceeded"),
    failure("cuda_error", "UCX  ERROR ", R"((?:\bcu|\bhip)[A-Z]\w+\(.*failed)"),
    failure("nccl_system_error", "UCX  ERROR "),
    failure("nccl_system_error",
            ": non-zero status: ", R"(\.(?:cpp|cu|h)\b.*: non-zero status: \d)"),
    failure("peer_lost", "NCCL error", R"(remote process exited)"),
    failure("nccl_error", "NCCL error"),
    in_error("nccl_error", "HCCL error"),
    in_error("nccl_error", "OPS function error: Hccl"),
    failure("nccl_error", "NCCL WARN ",
            R"(NCCL WARN (?:Cuda failure |.*(?:failed ?:|[Mm]ismatch|Duplicate GPU)))"),
    failure("nccl_error", "Failed to bind NVLink SHARP"),
    in_error("nccl_error", "ncclInternalError"),
    in_error("nccl_error", "ncclUnhandledCudaError"),
    failure("nccl_error", ") detected by watchdog at work"),
    failure("nccl_error", "NCCL communicator was aborted"),
    failure("gloo_error", "Gloo connectFullMesh failed"),
    in_error("gloo_error", "monitoredBarrier", R"((?i)fail)"),
    in_error("gloo_error", "Timed out waiting ", R"(Timed out waiting [0-9]+ms for )"),
    failure("peer_lost", "Connection closed by peer"),
    failure("peer_lost", "Connection reset by peer"),
    in_error("gloo_error", "third_party/gloo", R"(Error: )"),
    in_error("gloo_error", "[enforce fail at ", R"(gloo)"),
    in_error("rendezvous_failure", "ncclUniqueId", R"((?i)timeout|timed out)"),
    failure("rendezvous_failure", "ssh: connect to host "),
    failure("rendezvous_failure", "Host key verification failed"),
    failure("rendezvous_failure", "Permission denied (publickey"),
    failure("rendezvous_failure", "MPI_ERRORS_ARE_FATAL"),
    in_error("rendezvous_failure", " not reachable via ssh"),
    failure("rendezvous_failure", "emporary failure in name resolution"),
    failure("rendezvous_failure", "Name or service not known"),
    failure("rendezvous_failure", "No address associated with hostname"),
    failure("rendezvous_failure", "Rendezvous", R"(Rendezvous(?:Connection|Timeout|Closed)Error)"),
    failure("rendezvous_failure", "The client socket has ",
            R"(has (?:failed to connect|timed out))"),
    failure("rendezvous_failure", "The server socket has failed to "),
    failure("rendezvous_failure", "ddress already in use"),
    in_error("rendezvous_failure", " clients joined"),
    failure("rendezvous_failure", "o socket interface found"),
    failure("peer_lost", " failed on SocketImpl"),
    failure("rendezvous_failure", "Maximum number of nodes ", R"(exceeded)"),

    // Launching.
    failure("container_error", "error: pyxis: "),
    failure("container_error", "spank_pyxis.so", R"(error: )"),
    failure("container_error", "enroot-", R"(enroot-[a-z0-9]+: )"),
    failure("container_error", "nvidia-container-cli: "),
    failure("container_error", "ErrImagePull"),
    failure("container_error", "ImagePullBackOff"),
    failure("srun_launch_error", "srun: error: Unable to "),
    failure("srun_launch_error", "srun: error: Task launch for "),
    failure("srun_launch_error", "srun: error: Application launch failed"),
    failure("srun_launch_error", "srun: fatal: "),
    failure("srun_launch_error", "srun: unrecognized option"),
    failure(
        "srun_launch_error", "srun: error: ",
        R"(srun: error: .*(?i:munge|authenticat|credential|socket timed out|invalid|not permitted|)"
        R"(configuration|plugin|partition|step creation))"),
    failure("srun_launch_error", "error: execve(): "),
    failure("srun_launch_error", "slurmstepd: error: ",
            R"((?i)slurmstepd: error: [^*]*(?:fail|unable|cannot|denied|invalid|no such))"),
    failure("srun_launch_error", "error: couldn't chdir to", R"(going to .* instead|slurmstepd)"),
    failure("srun_launch_error", "sbatch: error: "),
    failure("srun_launch_error", "ORTE was unable to "),

    // What is left when a process has ended.
    failure("segmentation_fault", "Segmentation fault"),
    failure("segmentation_fault", "double free or corruption"),
    failure("segmentation_fault", "corrupted size vs. prev_size"),
    failure("segmentation_fault", "stack smashing detected"),
    failure("segmentation_fault", "(): invalid ", R"(^(?:\w*alloc\w*|munmap_chunk)\(\): )"),
    failure("segmentation_fault", "free(): ", R"(^free\(\): )"),
    failure("segmentation_fault", "malloc(): ", R"(^malloc\(\): )"),
    failure("child_failed", "*** Process received signal ***"),
    // A shell's word about a command: "run.sh: line 4: torchrun: command not found".
    failure("missing_module", ": command not found", R"(: line \d+: )"),
    failure("file_system_error", ": Permission denied", R"(: line \d+: .*denied$)"),
    failure("tokenizer_or_data_missing", ": No such file or directory", R"(: line \d+: .*tory$)"),
    // And about a child: "run.sh: line 4:  4102 Killed            python train.py".
    failure("segmentation_fault", "Illegal instruction ", R"(: line \d+: +\d+ )"),
    failure("segmentation_fault", "Floating point exception", R"(: line \d+: +\d+ )"),
    failure("task_killed", " Killed          ", R"(: line \d+: +\d+ )"),
    failure("task_killed", " Bus error       ", R"(: line \d+: +\d+ )"),
    failure("child_failed", " Aborted         ", R"(: line \d+: +\d+ )"),
    failure("segmentation_fault", "pure virtual method called"),
    by_number("Error: [Errno ", cause_of_errno, kExceptionHead),
    by_number("(errno: ", cause_of_errno),
    failure("segmentation_fault", "Signal 11 (SIGSEGV)"),
    failure("task_exited", "Exited with exit code ",
            R"(tasks? [0-9,-]+: Exited with exit code [1-9])"),
    failure("task_killed", "srun: error: ", R"(tasks? [0-9,-]+: (?:Terminated|Killed|Bus error))"),
    // A program aborts itself: what it said before is nearer to the cause.
    failure("child_failed", "srun: error: ", R"(tasks? [0-9,-]+: Aborted)"),
    failure("task_killed", " received by PID", R"(\(SIG(?:KILL|TERM)\) received)"),
    failure("segmentation_fault", " received by PID",
            R"(\*\*\* SIG(?:SEGV|ILL|FPE|BUS) (?:\([^)]*\) )?received)"),
    failure("child_failed", " received by PID", R"(\*\*\* SIGABRT (?:\([^)]*\) )?received)"),
    failure("task_killed", "(core dumped)", R"(^(?:Bus error|Killed) +\(core dumped\))"),
    failure("child_failed", "(core dumped)", R"(^Aborted +\(core dumped\))"),
    failure("segmentation_fault", "(core dumped)",
            R"(^(?:Illegal instruction|Floating point exception) +\(core dumped\))"),
    by_number("aught signal ", cause_of_signal),
    failure("segmentation_fault", "Fatal Python error: ", R"(error: (?:Bus|Illegal|Floating))"),
    failure("child_failed", "Fatal Python error: ", R"(error: Aborted)"),
    by_words("Check failed: ",
             R"((?:^F\d{4} |^\[[\d :,-]+ C \d+ \d+\] |: F [\w./]+:\d+\] ).*Check failed: )"),
    by_words("Non-OK-status: ", R"(^F\d{4} |: F )"),
    // "python3: aio.cpp:125: int wait(int): Assertion `done >= least' failed."
    by_words(": Assertion `", R"(^(?:[\w./-]+: )?[^ ]+:\d+: .*' failed\.)"),
    failure("task_killed", "SignalException: Process "),
    failure("task_killed", "srun: Force Terminated job"),
    failure("task_killed", " STEPD TERMINATED ON ",
            R"(\*\*\* (?:STEP|JOB) .* STEPD TERMINATED ON )"),
    failure("task_killed", "terminate called after throwing an instance of"),
    by_number("what():  ", cause_of_native_exception),
    by_number("return code = ", cause_of_exit_status),
    by_number("(exitcode: ", cause_of_exit_status),
    by_number("terminated with exit code ", cause_of_exit_status),
    by_number("exited on signal ", cause_of_signal),
    // Ray's word about a worker, around what the worker said itself.
    failure("node_failure", "its node has died"),
    failure("node_failure", "'s node has crashed"),
    failure("child_failed", "A worker died or was killed"),
    in_error("child_failed", "ActorDiedError"),
    failure("child_failed", "RayTaskError("),
    in_error("child_failed", "ChildFailedError"),
    failure("python_traceback", "Traceback (most recent call last)"),
};

// What is left of the exceptions: the class by type and words of the message, whoever raised it.
constexpr std::array kSignsOfExceptions = {
    any_exception("Error: "),
    any_exception("AssertionError"),
    any_exception("NotImplementedError"),
    any_exception("RuntimeError"),
    any_exception("TimeoutError"),
    any_exception("Exception"),
    any_exception("StopIteration"),
    any_exception("TimeoutExpired"),
    any_exception("BrokenProcessPool"),
    any_exception("BadZipFile"),
    any_exception("torch._dynamo.exc."),
    any_exception("pyarrow.lib."),
    any_exception(".error: "),
    any_exception(".errors."),
    any_exception(".exceptions."),
    any_exception("yaml.scanner."),
    any_exception("yaml.parser."),
};

constexpr auto kSigns = [] {
  constexpr std::size_t kOfRanks = kSignsOfOne.size() + kSignsOfOthers.size();
  std::array<FailureSign, kOfRanks + kSignsOfExceptions.size()> all;
  auto end = std::copy(kSignsOfOne.begin(), kSignsOfOne.end(), all.begin());
  end = std::copy(kSignsOfOthers.begin(), kSignsOfOthers.end(), end);
  std::copy(kSignsOfExceptions.begin(), kSignsOfExceptions.end(), end);
  return all;
}();

}  // namespace

std::span<const FailureSign> failure_signs() {
  return kSigns;
}

}  // namespace llmb::parser
