// More labelled failures: first lines of failures as public threads of other people's runs have
// them, labelled before this project's reader had seen them.
#pragma once

#include <array>

#include "labelled_failures.h"

namespace llmb::parser {

inline constexpr std::array<Failure, 147> kFailuresOfThreads = {{
    {"nccl_timeout", "",
     "[E723 01:58:45.510486595 ProcessGroupNCCL.cpp:632] [Rank 2] Watchdog caught collective "
     "operation timeout: WorkNCCL(SeqNum=45390, OpType=ALLREDUCE, NumelIn=544997376, "
     "NumelOut=544997376, Timeout(ms)=600000) ran for 600061 milliseconds before timing out."},
    {"cuda_oom", "",
     "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.47 GiB. GPU 1 has a total "
     "capacity of 79.11 GiB of which 1.90 GiB is free. Process 2893 has 77.19 GiB memory in use. "
     "Of the allocated memory 70.11 GiB is allocated by PyTorch, and 4.02 GiB is reserved by "
     "PyTorch but unallocated."},
    {"gpu_hardware_error", "", "RuntimeError: CUDA error: uncorrectable ECC error encountered"},
    {"illegal_memory_access", "cuda_error",
     "[E923 11:14:11.615370309 ProcessGroupNCCL.cpp:1895] [PG ID 0 PG GUID 0(default_pg) Rank 3] "
     "Process group watchdog thread terminated with exception: CUDA error: misaligned address"},
    {"illegal_memory_access", "",
     "RuntimeError: merge_sort: failed to synchronize: cudaErrorIllegalAddress: an illegal memory "
     "access was encountered"},
    {"task_killed", "host_oom_kill child_failed",
     "[2026-01-09 05:11:27,885] [ERROR] [launch.py:325:sigkill_handler] ['/usr/bin/python3', '-u', "
     "'main.py', '--local_rank=3', '--data_path', 'Dahoas/rm-static'] exits with return code = -9"},
    {"task_killed", "shared_memory_full child_failed segmentation_fault",
     "[2026-01-09 05:11:27,885] [ERROR] [launch.py:325:sigkill_handler] ['/opt/conda/bin/python', "
     "'-u', 'finetune.py', '--local_rank=1', '--bf16', 'True'] exits with return code = -7"},
    {"container_error", "", "slurmstepd: error: pyxis: container start failed with error code: 1"},
    {"container_error", "", "slurmstepd: error: pyxis: child 10028 failed with error code: 1"},
    {"srun_launch_error", "container_error",
     "srun: error: task 0 launch failed: Plugin initialization failed"},
    {"rendezvous_failure", "",
     "[E socket.cpp:860] [c10d] The client socket has timed out after 60s while trying to connect "
     "to (192.0.0.1, 1234)."},
    {"rendezvous_failure", "", "RuntimeError: connect() timed out. Original timeout was 60000 ms."},
    {"rendezvous_failure", "", "torch.distributed.elastic.rendezvous.api.RendezvousTimeoutError"},
    {"rendezvous_failure", "",
     "[E socket.cpp:500] [c10d] The server socket has failed to listen on any local network "
     "address."},
    {"gpu_hardware_error", "cuda_error",
     "HW Exception by GPU node-7 (Agent handle: 0x55c9e0a30d70) reason :GPU Hang"},
    {"gpu_hardware_error", "",
     "[13850.912648] amdgpu 0000:1c:00.0: {1}uncorrectable hardware "
     "error(ERREVENT_ATHUB_INTERRUPT) detected!"},
    {"file_system_error", "disk_full_or_quota tokenizer_or_data_missing",
     "RuntimeError: File my_out/checkpoints/checkpoint_0.pt cannot be opened."},
    {"disk_full_or_quota", "file_system_error",
     "RuntimeError: [enforce fail at inline_container.cc:445] . PytorchStreamWriter failed writing "
     "file data/176: file write failed"},
    {"disk_full_or_quota", "", "OSError: [Errno 28] No space left on device"},
    {"file_system_error", "", "RuntimeError: write(): fd 29 failed with Input/output error"},
    {"nccl_system_error", "peer_lost",
     "kp-ddp-worker-0:3468:3905 [4] ib_plugin.c:1615 NCCL WARN NET/IB : Got completion from peer "
     "10.216.210.236<54862> with status=12 opcode=0 len=0 vendor err 129 (Recv) localGid "
     "fd00:1148::ff22 remoteGidsfd00:1148::ff1f"},
    {"gpu_unavailable", "cuda_error gpu_hardware_error python_exception",
     "HCCL demo error: In function initDevice(): synDeviceAcquire(&resources.deviceHandle, "
     "nullptr) failed with synapse error: 20"},
    {"cuda_oom", "gpu_unavailable cuda_error python_exception",
     "2026-Jul-30 14:22:31.200001 65191:69012 ERROR  TDRV:dmem_alloc_internal                      "
     "Failed to alloc DEVICE memory: 2147483648"},
    {"python_exception", "configuration_error task_exited child_failed",
     "subprocess.CalledProcessError: Command '['neuronx-cc', 'compile', '--framework=XLA', "
     "'/tmp/model.hlo_module.pb', '--target=trn1']' returned non-zero exit status 70."},
    {"peer_lost", "node_failure rendezvous_failure",
     "2026-11-15 16:03:15.140058: E "
     "external/org_tensorflow/tensorflow/core/distributed_runtime/coordination/"
     "coordination_service.cc:954] /job:jax_worker/replica:0/task:37 has been set to ERROR in "
     "coordination service: UNAVAILABLE: Task /job:jax_worker/replica:0/task:37 heartbeat timeout. "
     "This indicates that the remote task has failed"},
    {"rendezvous_failure", "",
     "jaxlib.xla_extension.XlaRuntimeError: DEADLINE_EXCEEDED: Barrier timed out. Id: "
     "[Init]Wait_for_all_tasks_to_register::0."},
    {"gpu_hardware_error", "gpu_unavailable",
     "E0511 18:18:50.796514     915 session_master.cc:505] Session is failing with the following "
     "status: Session master detected TPU session error from worker "
     "tpu-job-jax-v6e-8-5-15.headless-svc:8471. The reporting TPU chip locations are:tpu31:pe4:3, "
     "tpu31:pe4:2"},
    {"cuda_oom", "",
     "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to "
     "allocate 7406166528 bytes."},
    {"cuda_oom", "",
     "jax.errors.JaxRuntimeError: RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran out of "
     "memory in memory space hbm. Used 20.51G of 15.75G hbm. Exceeded hbm capacity by 4.76G."},
    {"hf_unreachable", "",
     "huggingface_hub.errors.HfHubHTTPError: 429 Client Error: Too Many Requests for url: "
     "https://huggingface.co/Qwen/Qwen3-8B/resolve/main/tokenizer_config.json (Request ID: "
     "Root=1-9a3)"},
    {"hf_unreachable", "tokenizer_or_data_missing hf_authentication",
     "OSError: We couldn't connect to 'https://huggingface.co' to load the files, and couldn't "
     "find them in the cached files."},
    {"configuration_error", "", "RuntimeError: world_size (1) is not divisible by 2"},
    {"configuration_error", "python_exception",
     "AssertionError: Provide the argument --vocab-extra-ids 100 to the script"},
    {"python_exception", "configuration_error tokenizer_or_data_missing",
     "AssertionError: last epoch number of samples exceeded max value."},
    {"checkpoint_unreadable", "python_exception",
     "KeyError: 'language_model.decoder.layers.0.self_attention.in_proj.weight'"},
    {"cuda_error", "python_exception",
     "RuntimeError: "
     "/opt/te/transformer_engine/common/fused_attn/fused_attn_f16_arbitrary_seqlen.cu:405 in "
     "function operator(): cuDNN Error: [cudnn_frontend] Error: No execution plans support the "
     "graph.. For more information, enable cuDNN error logging by setting CUDNN_LOGERR_DBG=1 and "
     "CUDNN_LOGDEST_DBG=stderr in the environment."},
    {"cuda_error", "",
     "RuntimeError: CUDA error: CUBLAS_STATUS_EXECUTION_FAILED when calling `cublasGemmEx( handle, "
     "opa, opb, m, n, k, &falpha, a, CUDA_R_16BF, lda, b, CUDA_R_16BF, ldb, &fbeta, c, "
     "CUDA_R_16BF, ldc, compute_type, CUBLAS_GEMM_DEFAULT_TENSOR_OP)`"},
    {"python_exception", "cuda_error configuration_error",
     "triton.runtime.errors.OutOfResources: out of resource: shared memory, Required: 163840, "
     "Hardware limit: 101376. Reducing block sizes or `num_stages` may help."},
    {"missing_module", "python_exception",
     "ImportError: cannot import name 'triton_key' from 'triton.compiler.compiler' "
     "(/opt/conda/lib/python3.10/site-packages/triton/compiler/compiler.py)"},
    {"missing_module", "python_exception configuration_error",
     "RuntimeError: Failed to find C compiler. Please specify via CC environment variable."},
    {"python_exception", "hf_unreachable rendezvous_failure",
     "wandb.errors.errors.CommError: Run initialization has timed out after 90.0 sec. Please try "
     "increasing the timeout with the `init_timeout` setting: "
     "`wandb.init(settings=wandb.Settings(init_timeout=120))`."},
    {"nccl_error", "gpu_unavailable nccl_system_error cuda_error gpu_hardware_error",
     "Failed to bind NVLink SHARP (NVLS) Multicast memory of size 2097152 : CUDA error 401 'the "
     "operation cannot be performed in the present state'."},
    {"nccl_error", "cuda_error gpu_unavailable nccl_system_error",
     "rdma-test-gpu-worker-1:2918:4483 [4] transport/nvls.cc:245 NCCL WARN Cuda failure "
     "'initialization error'"},
    {"host_oom_kill", "",
     "(raylet) [2026-04-03 08:12:09,119 E 3210 3210] (raylet) node_manager.cc:3064: 1 Workers "
     "(tasks / actors) killed due to memory pressure (OOM), 0 Workers crashed due to other reasons "
     "at node (ID: 77a, IP: 10.0.0.7) over the last time period."},
    {"cuda_oom", "configuration_error python_exception",
     "ValueError: No available memory for the cache blocks. Try increasing "
     "`gpu_memory_utilization` when initializing the engine."},
    {"rendezvous_failure", "python_exception",
     "OSError: [Errno 98] error while attempting to bind on address ('0.0.0.0', 8000): address "
     "already in use"},
    {"gpu_hardware_error", "gpu_unavailable",
     "               NVRM: fallen off the bus and is not responding to commands."},
    {"file_system_error", "",
     "OSError: [Errno 5] Input/output error: '/mnt/lustre/data/shard-0071.npy'"},
    {"file_system_error", "",
     "OSError: [Errno 107] Transport endpoint is not connected: "
     "'/mnt/gcsfuse/data/c4_text_document.bin'"},
    {"task_killed", "host_oom_kill",
     "mpirun noticed that process rank 1 with PID 4410 on node gpu-02 exited on signal 9 "
     "(Killed)."},
    {"rendezvous_failure", "configuration_error",
     "[2026-06-11 10:11:12,123] [ERROR] [ft_rendezvous_barrier.py:1458] [node-A] Maximum number of "
     "nodes (4) exceeded. Active participant count would be 5 (joined=5, left=0). This is likely a "
     "configuration error - please check max_nodes setting."},
    {"peer_lost", "nccl_system_error nccl_error",
     "torch.distributed.DistBackendError: NCCL error in: "
     "/pytorch/torch/csrc/distributed/c10d/NCCLUtils.hpp:268, remote process exited or there was a "
     "network error, NCCL version 2.21.5"},
    {"gloo_error", "",
     "[E314 16:42:10.528865173 ProcessGroupGloo.cpp:143] Gloo connectFullMesh failed with "
     "[../third_party/gloo/gloo/transport/tcp/pair.cc:144] no error"},
    {"segmentation_fault", "", "Fatal Python error: Segmentation fault"},
    {"configuration_error", "", "Could not override 'trainer.max_step'."},
    {"configuration_error", "python_exception",
     "AssertionError: Invalid parallel dims: dp_replicate(1) * dp_shard(8) * cp(1) * tp(2) * pp(1) "
     "!= WORLD_SIZE(8)"},
    {"checkpoint_unreadable", "",
     "RuntimeError: Missing key in checkpoint state_dict: "
     "optimizer.param_groups.tok_embeddings.weight.betas."},
    {"checkpoint_unreadable", "",
     "megatron.core.dist_checkpointing.core.CheckpointingException: Object shard "
     "/ckpts/iter_0000010/rerun_state_machine_state/shard_0_1.pt not found"},
    {"tokenizer_or_data_missing", "",
     "FileNotFoundError: One or both of the .idx and .bin files cannot be found at the path prefix "
     "/data/c4_text_document"},
    {"file_system_error", "",
     "PermissionError: [Errno 13] Permission denied: '/ckpts/iter_0000100'"},
    {"disk_full_or_quota", "",
     "OSError: [Errno 122] Disk quota exceeded: '/home/u/out/checkpoint-100'"},
    {"file_limit", "shared_memory_full", "RuntimeError: received 0 items of ancdata"},
    {"missing_module", "",
     "ImportError: /env/flash_attn_2_cuda.cpython-311-x86_64-linux-gnu.so: undefined symbol: "
     "_ZN3c105ErrorC2ENS_14SourceLocationESs"},
    {"locked_memory_limit", "nccl_system_error nccl_error",
     "gpu-07:2201:2388 [1] ibvwrap.cc:178 NCCL WARN Call to ibv_reg_mr failed with error Cannot "
     "allocate memory"},
    {"gpu_unavailable", "cuda_error",
     "RuntimeError: CUDA error: CUDA-capable device(s) is/are busy or unavailable"},
    {"peer_lost", "gloo_error",
     "RuntimeError: [../third_party/gloo/gloo/transport/tcp/pair.cc:598] Connection closed by peer "
     "[10.0.0.4]:3421"},
    {"gloo_error", "nccl_timeout hung",
     "RuntimeError: Rank 3 failed to pass monitoredBarrier in 1800000 ms"},
    {"nccl_timeout", "hung",
     "[F304 13:40:11.1 ProcessGroupNCCL.cpp:1557] [PG ID 0 PG GUID 0(default_pg) Rank 7] [PG ID 0 "
     "PG GUID 0(default_pg) Rank 7] Terminating the process after attempting to dump debug info, "
     "due to ProcessGroupNCCL watchdog hang."},
    {"rendezvous_failure", "",
     "torch.distributed.DistStoreError: Timed out after 601 seconds waiting for clients. 3/4 "
     "clients joined."},
    {"nan_loss", "nan_gradient",
     "RuntimeError: Rank 0, node gpu-07, device 0, iteration 40: Unexpected result nan "
     "(message='found NaN in local forward loss calculation')"},
    {"python_exception", "", "StopIteration"},
    {"tokenizer_or_data_missing", "python_exception",
     "AssertionError: No file found with pattern "
     "/tmp/gcsfuse/array-record/c4/en/3.0.1/c4-train.array_record*."},
    {"srun_launch_error", "node_failure",
     "srun: error: Task launch for StepId=99812.0 failed on node gpu-44: Communication connection "
     "failure"},
    {"missing_module", "python_exception",
     "OSError: "
     "/usr/local/lib/python3.12/dist-packages/transformer_engine/libtransformer_engine.so: cannot "
     "open shared object file: No such file or directory"},
    {"missing_module", "python_exception",
     "ValueError: numpy.dtype size changed, may indicate binary incompatibility. Expected 96 from "
     "C header, got 88 from PyObject"},
    {"gpu_hardware_error", "",
     "torch.AcceleratorError: CUDA error: uncorrectable NVLink error detected during the "
     "execution"},
    {"checkpoint_unreadable", "", "RuntimeError: Error(s) in loading state_dict for GPTModel:"},
    {"nccl_error",
     "gpu_unavailable python_exception rendezvous_failure nccl_system_error gpu_hardware_error",
     "RuntimeError: [ERROR] HCCL error in: torch_npu/csrc/distributed/ProcessGroupHCCL.cpp:64"},
    {"nccl_timeout", "nccl_error rendezvous_failure python_exception",
     "RuntimeError: InnerRunOpApi:torch_npu/csrc/framework/OpParamMaker.cpp:281 OPS function "
     "error: HcclAllreduce, error code is 6"},
    {"cuda_oom", "",
     "RuntimeError: NPU out of memory. Tried to allocate 2.00 GiB (NPU 0; 60.97 GiB total "
     "capacity; 57.2 GiB already allocated)"},
    {"nccl_system_error", "peer_lost nccl_error",
     "algo-1:462:810 [0] ofi_process_cq:1039 NCCL WARN NET/OFI Request 0x7fbb944701b8 completed "
     "with error. RC: 113. Error: unreachable remote. Completed length: 0"},
    {"peer_lost", "nccl_error nccl_system_error",
     "2024-01-11 05:43:11.726254: E external/xla/xla/service/gpu/nccl_utils.cc:211] Aborting "
     "communicator: 0x7f3e427e55b0 due to async NCCL error: remote process exited or there was a "
     "network error"},
    {"nccl_timeout", "rendezvous_failure hung peer_lost",
     "2026-01-11 05:43:18.1: F external/xla/xla/service/rendezvous.cc:62] Termination timeout for "
     "`initialize clique for rank 3` of 40 seconds exceeded. Exiting to ensure a consistent "
     "program state. Expected 8 threads to join the rendezvous, but not all of them arrived on "
     "time."},
    {"task_killed", "host_oom_kill",
     "ERROR:torch.distributed.elastic.multiprocessing.api:failed (exitcode: -9) local_rank: 0 "
     "(pid: 357394) of binary: /env/bin/python"},
    {"python_exception", "file_system_error hf_unreachable tokenizer_or_data_missing",
     "fsspec.exceptions.FSTimeoutError: Caught FSTimeoutError in DataLoader worker process 1."},
    {"python_exception", "tokenizer_or_data_missing file_system_error checkpoint_unreadable",
     "tarfile.ReadError: (\"unexpected end of data @ <Pipe (('aws s3 cp s3://B/K.tar -',), "
     "{'shell': True})>\", 'pipe:aws s3 cp s3://B/K.tar -')"},
    {"python_exception", "hf_authentication configuration_error file_system_error",
     "botocore.exceptions.NoCredentialsError: Unable to locate credentials"},
    {"python_exception", "file_system_error",
     "OSError: When reading information for key 'shard-1.parquet' in bucket 'b': AWS Error "
     "NETWORK_CONNECTION during HeadObject operation: curlCode: 28, Timeout was reached"},
    {"preempted", "node_failure",
     "Dec 17 16:03:58Z worker-1 start-worker 2026/12/17 16:03:58 GCP Metadata Service says "
     "termination is imminent"},
    {"python_exception", "task_killed host_oom_kill shared_memory_full",
     "RuntimeError: DataLoader worker (pid(s) 41230) exited unexpectedly"},
    {"segmentation_fault", "child_failed task_killed", "double free or corruption (out)"},
    {"segmentation_fault", "task_killed child_failed",
     "/var/spool/slurmd/job1/slurm_script: line 9: 4411 Illegal instruction     (core dumped) "
     "python train.py"},
    {"task_killed", "segmentation_fault shared_memory_full",
     "run.sh: line 4: 4102 Bus error               (core dumped) python train.py --workers 16"},
    {"task_killed", "host_oom_kill",
     "train.sh: line 12:  4410 Killed                  python train.py --config a.yaml"},
    {"container_error", "",
     "FATAL:   could not open image /scratch/img/nemo.sif: failed to retrieve path for "
     "/scratch/img/nemo.sif: lstat /scratch/img: no such file or directory"},
    {"container_error", "",
     "docker: Error response from daemon: failed to create task for container: failed to create "
     "shim task: OCI runtime create failed: runc create failed: unable to start container process: "
     "error during container init: error running hook #0: nvidia-container-cli: initialization "
     "error: load library failed: libnvidia-ml.so.1: cannot open"},
    {"srun_launch_error", "",
     "srun: error: Unable to create step for job 123: Invalid generic resource (gres) "
     "specification"},
    {"srun_launch_error", "", "slurmstepd: error: execve(): /lustre/run.sh: Permission denied"},
    {"gpu_hardware_error", "",
     "[88123.4] NVRM: Xid (PCI:0018:01:00): 149, pid=4021, name=python, NETIR_LINK_EVT Fatal XC0 "
     "i0 Link 05 (0x007c06c6)"},
    {"cuda_error", "illegal_memory_access gpu_hardware_error",
     "torch.AcceleratorError: CUDA error: an illegal instruction was encountered"},
    {"rendezvous_failure", "nccl_system_error nccl_error",
     "gpu-1:22:22 [0] bootstrap.cc:45 NCCL WARN Bootstrap : no socket interface found"},
    {"nccl_error", "configuration_error",
     "torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:2021, invalid usage "
     "(run with NCCL_DEBUG=WARN for details), NCCL version 2.21.5"},
    {"nan_gradient", "nan_loss",
     "FloatingPointError: Minimum loss scale reached (0.0001). Your loss is probably exploding. "
     "Try lowering the learning rate, using gradient clipping or increasing the batch size."},
    {"nan_loss", "nan_gradient python_exception",
     "FloatingPointError: invalid value (nan) encountered in jit(train_step). Because "
     "jax_config.debug_nans.value and/or config.jax_debug_infs is set, the de-optimized function "
     "was executed"},
    {"configuration_error", "", "ERROR: Could not consume arg: --learning-rte"},
    {"configuration_error", "python_exception",
     "pydantic_core._pydantic_core.ValidationError: 2 validation errors for AxolotlInputConfig"},
    {"configuration_error", "python_exception",
     "yaml.scanner.ScannerError: mapping values are not allowed here"},
    {"configuration_error", "python_exception",
     "AssertionError: Check batch related parameters. train_batch_size is not equal to "
     "micro_batch_per_gpu * gradient_acc_step * world_size 256 != 8 * 1 * 8"},
    {"gpu_unavailable", "configuration_error",
     "lightning.fabric.utilities.exceptions.MisconfigurationException: No supported gpu backend "
     "found!"},
    {"gpu_unavailable", "configuration_error python_exception",
     "AssertionError: Megatron requires CUDA."},
    {"tokenizer_or_data_missing", "configuration_error python_exception checkpoint_unreadable",
     "ValueError: Unrecognized model in /models/x. Should have a `model_type` key in its "
     "config.json, or contain one of the following strings in its name: albert, align"},
    {"tokenizer_or_data_missing", "",
     "OSError: /models/Llama-3 does not appear to have a file named config.json. Checkout "
     "'https://huggingface.co//models/Llama-3/tree/main' for available files."},
    {"tokenizer_or_data_missing", "configuration_error python_exception",
     "huggingface_hub.errors.HFValidationError: Repo id must be in the form 'repo_name' or "
     "'namespace/repo_name': '/models/llama'. Use `repo_type` argument if needed."},
    {"tokenizer_or_data_missing", "hf_authentication hf_unreachable",
     "datasets.exceptions.DatasetNotFoundError: Dataset 'org/pile' doesn't exist on the Hub or "
     "cannot be accessed."},
    {"hf_unreachable", "",
     "requests.exceptions.SSLError: (MaxRetryError(\"HTTPSConnectionPool(host='huggingface.co', "
     "port=443): Max retries exceeded with url: /api/models (Caused by SSLError(SSLEOFError(8, "
     "'EOF occurred')))\"), '(Request ID: 1)')"},
    {"hf_unreachable", "rendezvous_failure python_exception",
     "httpx.ConnectError: [Errno -3] Temporary failure in name resolution"},
    {"checkpoint_unreadable", "configuration_error",
     "AssertionError: num_layers value from checkpoint (32) is not equal to the input argument "
     "value (24)."},
    {"checkpoint_unreadable", "python_exception",
     "ValueError: User-provided restore item and on-disk value metadata tree structures do not "
     "match: (Diff(lhs={'a': 1}, rhs=None))"},
    {"file_system_error", "tokenizer_or_data_missing",
     "RuntimeError: Parent directory /ckpt/step_100 does not exist."},
    {"host_oom_kill", "", "      Reason:       OOMKilled"},
    {"python_exception", "configuration_error",
     "AssertionError: only support equal chunk. Got size of DataProto 1 and chunk 8."},
    {"cuda_oom", "configuration_error python_exception",
     "RuntimeError: Not enough memory. Please try to increase --mem-fraction-static."},
    {"cuda_oom", "", "RuntimeError: Triton Error [CUDA]: out of memory"},
    {"cuda_error", "python_exception",
     "RuntimeError: /te/transformer_engine/common/gemm/cublaslt_gemm.cu:329 in function "
     "cublas_gemm: Assertion failed: status != CUBLAS_STATUS_NOT_SUPPORTED. Unable to find "
     "suitable cuBLAS GEMM algorithm"},
    {"configuration_error", "python_exception cuda_error gpu_unavailable",
     "RuntimeError: FlashAttention only supports Ampere GPUs or newer."},
    {"python_exception", "configuration_error", "AssertionError"},
    {"rendezvous_failure", "python_exception srun_launch_error configuration_error",
     "RuntimeError: Using hostfile at hostfile but host=192.168.3.100 was not reachable via ssh. "
     "If you are running with a single node please remove hostfile or setup passwordless ssh."},
    {"rendezvous_failure", "srun_launch_error peer_lost",
     "n2: ssh: connect to host n2 port 22: Connection refused"},
    {"configuration_error", "python_exception",
     "AssertionError: You must have a training stage starting at 1 in the config's data_stages"},
    {"configuration_error", "",
     "launch.py: error: the following arguments are required: training_script, "
     "training_script_args"},
    {"python_exception", "checkpoint_unreadable configuration_error",
     "RuntimeError: [0]: params[0] in this process with sizes [512, 10] appears not to match sizes "
     "of the same param in process 1."},
    {"configuration_error", "python_exception",
     "AssertionError: Float8 MoE training prototype does not yet support tensor parallelism"},
    {"checkpoint_unreadable", "tokenizer_or_data_missing",
     "tensorflow.python.framework.errors_impl.NotFoundError: Restoring from checkpoint failed. "
     "This is most likely due to a Variable name or other graph key that is missing from the "
     "checkpoint."},
    {"python_exception",
     "checkpoint_unreadable tokenizer_or_data_missing file_system_error rendezvous_failure",
     "jaxlib.xla_extension.XlaRuntimeError: FAILED_PRECONDITION: Buffer Definition Event: Program "
     "hlo requested feature is not available"},
    {"python_exception", "file_system_error hf_unreachable",
     "google.api_core.exceptions.ServiceUnavailable: 503 GET "
     "https://storage.googleapis.com/storage/v1/b/x: Backend Error"},
    {"file_system_error", "python_exception hf_authentication",
     "google.api_core.exceptions.Forbidden: 403 GET https://storage.googleapis.com/storage/v1/b/x: "
     "does not have storage.objects.get access to the Google Cloud Storage object."},
    {"host_oom_kill", "",
     "RuntimeError: [enforce fail at alloc_cpu.cpp:117] err == 0. DefaultCPUAllocator: can't "
     "allocate memory: you tried to allocate 85899345920 bytes. Error code 12 (Cannot allocate "
     "memory)"},
    {"host_oom_kill", "",
     "numpy._core._exceptions._ArrayMemoryError: Unable to allocate 96.0 GiB for an array with "
     "shape (1, 2) and data type float64"},
    {"shared_memory_full", "disk_full_or_quota",
     "RuntimeError: unable to allocate shared memory(shm) for file </torch_12_3>: Resource "
     "temporarily unavailable (11)"},
    {"file_limit", "host_oom_kill python_exception",
     "BlockingIOError: [Errno 11] Resource temporarily unavailable"},
    {"nccl_error", "cuda_error nccl_system_error",
     "torch.distributed.DistBackendError: NCCL error in: NCCLUtils.cpp:77, unhandled cuda error "
     "(run with NCCL_DEBUG=INFO for details), NCCL version 2.26.2"},
    {"gpu_unavailable", "cuda_error nccl_error",
     "RuntimeError: CUDA unknown error - this may be due to an incorrectly set up environment, "
     "e.g. changing env variable CUDA_VISIBLE_DEVICES after program start. Setting the available "
     "devices to be zero."},
    {"cuda_error", "gpu_unavailable missing_module configuration_error",
     "torch.AcceleratorError: CUDA error: the provided PTX was compiled with an unsupported "
     "toolchain."},
    {"missing_module", "python_exception", "RuntimeError: Error building extension 'cpu_adam'"},
    {"tokenizer_or_data_missing", "python_exception configuration_error",
     "Exception: data did not match any variant of untagged enum ModelWrapper at line 757443 "
     "column 3"},
    {"tokenizer_or_data_missing", "checkpoint_unreadable python_exception file_system_error",
     "pyarrow.lib.ArrowInvalid: Could not open Parquet input source '<Buffer>': Parquet magic "
     "bytes not found in footer. Either the file is corrupted or this is not a parquet file."},
    {"tokenizer_or_data_missing", "python_exception",
     "ValueError: mmap length is greater than file size"},
}};

}  // namespace llmb::parser
