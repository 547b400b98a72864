// The labelled failures of the evaluation (cause_evaluation_test.cpp): what the rank, the driver or
// the scheduler prints that fails first, and what a person who reads it would call the cause.
#pragma once

#include <array>

namespace llmb::parser {

struct Failure {
  const char* cause;       // exact
  const char* acceptable;  // others that a reader would let pass, separated by blanks
  const char* text;        // lines of the rank that fails first
};

inline constexpr std::array<Failure, 59> kFailures = {{
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
    // So seven of the eight sets have it that hold such a log.
    {"cuda_error", "gpu_unavailable",
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

}  // namespace llmb::parser
