#include "parser/dialects/failure_class.h"

#include <algorithm>
#include <array>

namespace llmb::parser {
namespace {

using enum CauseDepth;

constexpr std::array kClasses = {
    FailureClass{"cuda_oom",
                 root,
                 "GPU memory ran out: use a smaller micro batch, more tensor, pipeline or context "
                 "parallelism, or activation recomputation; check that no other process holds "
                 "memory on the GPU.",
                 {}},
    FailureClass{"host_oom_kill",
                 root,
                 "The node's memory, or the job's share of it, ran out: ask for more (--mem=0 for "
                 "all), use fewer data loader workers, or save checkpoints with fewer processes.",
                 {}},
    FailureClass{"locked_memory_limit",
                 root,
                 "Memory could not be registered for RDMA: raise the limit of locked memory in the "
                 "job (ulimit -l unlimited), and in the container.",
                 {}},
    FailureClass{"shared_memory_full",
                 root,
                 "/dev/shm of the container is too small: mount a larger one, or use fewer data "
                 "loader workers.",
                 {}},
    FailureClass{"gpu_hardware_error",
                 root,
                 "The GPU or its link reported a fault: drain the node, look up the Xid or ECC "
                 "counters (dmesg, nvidia-smi -q), and run again elsewhere.",
                 {}},
    FailureClass{"gpu_unavailable",
                 root,
                 "CUDA found no usable GPU: compare the driver with what the image's CUDA needs, "
                 "and check nvidia-smi and the fabric manager on that node.",
                 {}},
    FailureClass{"illegal_memory_access",
                 root,
                 "A kernel read or wrote memory that is not its own: run again with "
                 "CUDA_LAUNCH_BLOCKING=1 to find it; suspect the newest library first.",
                 {}},
    FailureClass{"device_side_assert",
                 root,
                 "A kernel refused its input, often a token id beyond the vocabulary: run again "
                 "with CUDA_LAUNCH_BLOCKING=1 to find which.",
                 {}},
    FailureClass{"nan_loss",
                 root,
                 "The loss is NaN or infinite: compare dtype, learning rate and data with a run "
                 "that converges; a single bad GPU can do it too.",
                 {}},
    FailureClass{"nan_gradient",
                 root,
                 "A gradient is NaN or infinite: compare dtype, loss scale and data with a run "
                 "that converges; a single bad GPU can do it too.",
                 {}},
    FailureClass{"node_failure", root,
                 "Slurm lost a node: run again without it, and see the controller's log.",
                 communication},
    FailureClass{"time_limit", root,
                 "The job reached its time limit: ask for more time, or for fewer steps.",
                 worker_signal},
    FailureClass{"preempted", root,
                 "The scheduler took the nodes for another job, or put this one back into the "
                 "queue: see the next retry of the same job.",
                 worker_signal},
    FailureClass{"cancelled", root,
                 "Somebody or something cancelled the job (scancel): see the accounting record "
                 "(sacct) for who.",
                 none},
    FailureClass{"interrupted", root,
                 "Somebody pressed Ctrl-C, closed the terminal, or sent the same signal.",
                 exception},
    FailureClass{"disk_full_or_quota",
                 root,
                 "A file system is full or a quota is used up: clean up, or point results and "
                 "checkpoints elsewhere.",
                 {}},
    FailureClass{"missing_module",
                 root,
                 "A Python module or a shared library is not in the image, or does not fit the "
                 "others: check the image's tag and what is mounted over it.",
                 {}},
    FailureClass{"hf_authentication",
                 root,
                 "The model or tokenizer is behind a licence or needs a login: set HF_TOKEN to a "
                 "token that has been given access.",
                 {}},
    FailureClass{"hf_unreachable",
                 root,
                 "The model hub could not be reached or refused the rate of requests: stage the "
                 "tokenizer beforehand and run with HF_HUB_OFFLINE=1.",
                 {}},
    FailureClass{"tokenizer_or_data_missing",
                 root,
                 "A file that the run needs is not where it looks: check the data, tokenizer and "
                 "checkpoint paths, and that they are mounted in the container.",
                 {}},
    FailureClass{"checkpoint_unreadable",
                 root,
                 "The checkpoint is damaged or of another model or parallel layout: load another "
                 "one, or begin anew.",
                 {}},
    FailureClass{"configuration_error",
                 root,
                 "The program refused its configuration: the quoted line says which value.",
                 {}},
    FailureClass{
        "file_limit",
        root,
        "The job may not open so many files, or start so many threads: raise the limit (ulimit -n, "
        "ulimit -u), or start fewer data loader workers.",
        {}},
    FailureClass{"file_system_error",
                 root,
                 "A file system refused or lost a file: check the mount on the quoted node, and "
                 "who may read and write there.",
                 {}},
    FailureClass{"srun_launch_error",
                 root,
                 "Slurm could not start the tasks: the quoted line says why.",
                 {}},
    FailureClass{"container_error",
                 communication,
                 "The container could not be set up: check the image's name, that it was "
                 "imported, its credentials, and its mounts.",
                 {}},
    FailureClass{"nccl_timeout",
                 communication,
                 "A collective did not end in time: one rank hangs, is late or died. The quoted "
                 "rank waited; look for the rank that does not report.",
                 {}},
    FailureClass{"nccl_system_error",
                 communication,
                 "NCCL met an error of the network or the system: run with NCCL_DEBUG=INFO, and "
                 "check links and adapters (ibstat, dmesg) of the quoted node.",
                 {}},
    FailureClass{"nccl_error",
                 communication,
                 "NCCL failed: run with NCCL_DEBUG=INFO and see its first warning.",
                 {}},
    FailureClass{"rendezvous_failure",
                 communication,
                 "The ranks did not find each other: check MASTER_ADDR and MASTER_PORT, that the "
                 "port is free, and that all nodes started.",
                 {}},
    FailureClass{"gloo_error",
                 communication,
                 "A collective on the CPU (Gloo) failed or timed out: look for the rank that does "
                 "not report, and check the host network.",
                 {}},
    FailureClass{"cuda_error",
                 communication,
                 "A CUDA call failed: the quoted line says how; run again with "
                 "CUDA_LAUNCH_BLOCKING=1 to find where. Where it has no kernel image, a library "
                 "was not built for this GPU.",
                 {}},
    FailureClass{"segmentation_fault",
                 communication,
                 "A process crashed in native code: suspect the newest library first; a core dump "
                 "or PYTHONFAULTHANDLER=1 shows where.",
                 {}},
    FailureClass{"gpu_process_error",
                 peer_lost,
                 "The driver noted that a process on the GPU failed: the program's own lines say "
                 "more.",
                 {}},
    FailureClass{"peer_lost",
                 peer_lost,
                 "A rank lost its connection to another one, which ended first: look for that "
                 "one's lines.",
                 {}},
    FailureClass{"python_exception",
                 exception,
                 "An exception that has no class of its own: the quoted line is its last.",
                 {}},
    FailureClass{"python_traceback",
                 traceback,
                 "A Python traceback without its last line: see the log at that place.",
                 {}},
    FailureClass{"task_killed",
                 killed,
                 "A task was killed by a signal: nothing in the log says why; see dmesg and the "
                 "accounting record (sacct).",
                 {}},
    FailureClass{"task_failure",
                 consequence,
                 "Slurm ended the job step because a task failed: see that task's lines.",
                 {}},
    FailureClass{"task_exited",
                 consequence,
                 "A task ended with an error code: see the lines before it.",
                 {}},
    FailureClass{
        "child_failed",
        worker_failed,
        "A launcher (torchrun, DeepSpeed, Ray) saw a worker fail: see that rank's own lines.",
        {}},
    FailureClass{"job_exited",
                 consequence,
                 "The job's script ended with an error code: see the lines before it.",
                 {}},
    FailureClass{kRestarted,
                 none,
                 "The launcher began again: what the log told before is of an earlier attempt.",
                 {}},
    FailureClass{kWentOn,
                 none,
                 "What the log told before was survived: the program went on counting, or all was "
                 "trained.",
                 {}},
    FailureClass{
        "hung",
        consequence,
        "The log fell silent without a word, for 20 step times and two minutes or more, and less "
        "than a day ago when that was found: a rank hangs, or the job was killed from outside. See "
        "the job's state (squeue, sacct).",
        {}},
};

}  // namespace

std::span<const FailureClass> failure_classes() {
  return kClasses;
}

const FailureClass* find_failure_class(std::string_view cause) {
  const auto found = std::find_if(kClasses.begin(), kClasses.end(),
                                  [&](const FailureClass& one) { return one.cause == cause; });
  return found == kClasses.end() ? nullptr : &*found;
}

}  // namespace llmb::parser
