// Labelled failures by the words of the programs that print them: exceptions of frameworks and
// their libraries above all. Labelled before this project's reader had seen them.
#pragma once

#include <array>

#include "labelled_failures.h"

namespace llmb::parser {

inline constexpr std::array<Failure, 173> kFailuresOfPrograms = {{
    {"python_exception", "configuration_error",
     "RuntimeError: The size of tensor a (17016944) must match the size of tensor b (896) at "
     "non-singleton dimension 1"},
    {"python_exception", "configuration_error",
     "torch.utils.checkpoint.CheckpointError: torch.utils.checkpoint: Recomputed values for the "
     "following tensors have different metadata than during the forward pass."},
    {"python_exception", "configuration_error", "RuntimeError: 'weight' must be 2-D"},
    {"cuda_error", "nccl_error",
     "[1778057834.457968] [node-21:726540:0]  cuda_ipc_ep.c:166  UCX  ERROR "
     "cuMemcpyDtoDAsync_v2(dst, src, iov[0].length, *stream)() failed: invalid argument"},
    {"segmentation_fault", "child_failed",
     "free(): corrupted unsorted chunks\n"
     "[node-93:186363] *** Process received signal ***\n"
     "[node-93:186363] Signal: Aborted (6)\n"
     "[node-93:186363] Signal code:  (-6)"},
    {"nccl_error", "cuda_error gpu_hardware_error",
     "node-4:2101742:2101799 [0] transport/nvls.cc:254 NCCL WARN Failed to bind NVLink SHARP "
     "(NVLS) Multicast memory of size 2097152 : CUDA error 401 'the operation cannot be performed "
     "in the present state'\n"
     "torch.distributed.DistBackendError: NCCL error in: "
     "/pytorch/torch/csrc/distributed/c10d/NCCLUtils.cpp:77, unhandled cuda error (run with "
     "NCCL_DEBUG=INFO for details), NCCL version 2.26.2"},
    {"nccl_error", "cuda_error gpu_unavailable",
     "node-7:4012:4594 [3] NCCL WARN Cuda failure 'system not yet initialized'"},
    {"rendezvous_failure",
     "hf_unreachable tokenizer_or_data_missing file_system_error python_exception peer_lost",
     "botocore.exceptions.ConnectionClosedError: Connection was closed before we received a valid "
     "response from endpoint URL: \"https://bucket.s3.amazonaws.com/ckpt/iter_500\"."},
    {"file_system_error", "python_exception disk_full_or_quota rendezvous_failure",
     "boto3.exceptions.S3UploadFailedError: Failed to upload /opt/ml/code/checkpoint/0_Step-0.ckpt "
     "to bucket/run: An error occurred (AccessDenied) when calling the PutObject operation: Access "
     "Denied"},
    {"python_exception", "rendezvous_failure peer_lost hf_unreachable",
     "requests.exceptions.ConnectionError: ('Connection aborted.', RemoteDisconnected('Remote end "
     "closed connection without response'))"},
    {"configuration_error", "",
     "ValueError: Please correct the following DeepSpeed config values that mismatch "
     "TrainingArguments values:\n"
     "- ds bf16.enabled=True vs hf bf16|bf16_full_eval=False\n"
     "The easiest method is to set these DeepSpeed config values to 'auto'."},
    {"python_exception", "",
     "AttributeError: 'HfTrainerDeepSpeedConfig' object has no attribute 'is_zero3'"},
    {"nccl_error", "python_exception",
     "RuntimeError: Detected mismatch between collectives on ranks. Rank 0 is running collective: "
     "CollectiveFingerPrint(SequenceNumber=412, OpType=ALLGATHER), but Rank 3 is running "
     "collective: CollectiveFingerPrint(SequenceNumber=412, OpType=REDUCE)."},
    {"python_exception", "",
     "RuntimeError: still have inflight params [{'id': 723, 'status': 'AVAILABLE', 'numel': "
     "4194304, 'ds_numel': 4194304}]"},
    {"srun_launch_error", "rendezvous_failure",
     "srun: error: If munged is up, restart with --num-threads=10\n"
     "srun: error: Munge encode failed: Failed to access \"/var/run/munge/munge.socket.2\": No "
     "such file or directory\n"
     "srun: error: slurm_send_node_msg: auth_g_create: REQUEST_RESOURCE_ALLOCATION has "
     "authentication error"},
    {"srun_launch_error", "",
     "srun: error: Task launch for StepId=13.0 failed on node node-3: Invalid job credential\n"
     "srun: error: Application launch failed: Invalid job credential\n"
     "srun: Job step aborted: Waiting up to 32 seconds for job step to finish."},
    {"srun_launch_error", "",
     "slurmstepd: error: execve(): /tmp/slurmd/job00089/slurm_script: No such file or directory"},
    {"node_failure", "", "salloc: error: Node failure on worker-1"},
    {"host_oom_kill", "",
     "slurmstepd: error: Detected 2 oom-kill event(s) in step 3756240.batch cgroup."},
    {"task_killed", "",
     "srun: error: c002: task 0: Killed\n"
     "srun: Force Terminated StepId=120.0"},
    {"cuda_error", "python_exception missing_module configuration_error",
     "RuntimeError: [TensorRT-LLM][ERROR] Assertion failed: Failed to initialize cutlass TMA WS "
     "grouped gemm. Error: Error Internal "
     "(/workspace/csrc/cutlass_kernel_file_gemm_grouped_sm120_M256_BS_group0.generated.cu:60)"},
    {"python_exception", "missing_module cuda_error",
     "RuntimeError: Assertion error (csrc/jit/compiler.hpp:122): false and \"NVCC compilation "
     "failed\""},
    {"task_killed", "shared_memory_full segmentation_fault",
     "[node-5:1034 :0:1034] Caught signal 7 (Bus error: nonexistent physical address)\n"
     "==== backtrace (tid:   1034) ===="},
    {"nccl_timeout", "",
     "[2025-06-01 11:10:12,004] [ERROR] [ft_launcher@node-3] RankMonitorServer: Did not get "
     "subsequent heartbeat. Waited 90.00 seconds. Rank 5"},
    {"missing_module", "python_exception",
     "AttributeError: module 'torch' has no attribute 'float8_e4m3fn'"},
    {"missing_module", "python_exception",
     "RuntimeError: operator torchvision::nms does not exist"},
    {"missing_module", "",
     "ImportError: cannot import name 'is_flash_attn_2_available' from 'transformers.utils' "
     "(/opt/venv/lib/python3.10/site-packages/transformers/utils/__init__.py)"},
    {"missing_module", "configuration_error",
     "ImportError: FlashAttention2 has been toggled on, but it cannot be used due to the following "
     "error: the package flash_attn seems to be not installed."},
    {"configuration_error", "tokenizer_or_data_missing python_exception",
     "ValueError: Asking to pad but the tokenizer does not have a padding token. Please select a "
     "token to use as `pad_token` `(tokenizer.pad_token = tokenizer.eos_token e.g.)`"},
    {"device_side_assert", "python_exception tokenizer_or_data_missing",
     "/opt/pytorch/aten/src/ATen/native/cuda/Indexing.cu:1255: indexSelectSmallIndex: block: "
     "[12,0,0], thread: [64,0,0] Assertion `srcIndex < srcSelectDimSize` failed."},
    {"device_side_assert", "cuda_error",
     "../aten/src/ATen/native/cuda/Loss.cu:250: nll_loss_forward_reduce_cuda_kernel_2d: block: "
     "[0,0,0], thread: [3,0,0] Assertion `t >= 0 && t < n_classes` failed.\n"
     "torch.AcceleratorError: CUDA error: device-side assert triggered"},
    {"host_oom_kill", "python_exception",
     "RuntimeError: DataLoader worker (pid(s) 88121, 88122) exited unexpectedly"},
    {"file_system_error", "",
     "PermissionError: [Errno 1] Operation not permitted: '/lustre/results/ckpt'"},
    {"tokenizer_or_data_missing", "configuration_error",
     "ValueError: num_samples should be a positive integer value, but got num_samples=0"},
    {"tokenizer_or_data_missing", "configuration_error",
     "AssertionError: One or more of the paths in the blend does not exist: "
     "/data/c4/part_07_text_document"},
    {"checkpoint_unreadable", "tokenizer_or_data_missing",
     "RuntimeError: PytorchStreamReader failed reading zip archive: failed finding central "
     "directory"},
    {"checkpoint_unreadable", "configuration_error",
     "ValueError: loaded state dict contains a parameter group that doesn't match the size of "
     "optimizer's group"},
    {"preempted", "task_killed",
     "[2025-05-05 03:12:11] INFO: received SIGUSR1, node is being preempted, saving checkpoint and "
     "exiting"},
    {"segmentation_fault", "child_failed",
     "[2024-11-21 08:41:02,118] torch.distributed.elastic.multiprocessing.api: [ERROR] failed "
     "(exitcode: -8) local_rank: 0 (pid: 69053) of binary: /root/miniconda3/bin/python"},
    {"configuration_error", "",
     "usage: main_pretrain.py [-h] [--local_rank LOCAL_RANK]\n"
     "main_pretrain.py: error: unrecognized arguments: --local-rank=1\n"
     "ERROR:torch.distributed.elastic.multiprocessing.api:failed (exitcode: 2) local_rank: 0 (pid: "
     "1499185) of binary: /bin/python"},
    {"child_failed", "python_exception configuration_error",
     "subprocess.CalledProcessError: Command '['torchrun', '--nnodes', '1', '--node_rank', '0', "
     "'--nproc_per_node', '2', '/LLaMA-Factory/src/llamafactory/launcher.py', "
     "'config/qwen_vl.yaml']' returned non-zero exit status 1."},
    {"python_exception", "",
     "AttributeError: Can't get local object "
     "'AutoModelForCausalLMWithValueHead.post_init.<locals>.set_device_hook'"},
    {"host_oom_kill", "shared_memory_full disk_full_or_quota",
     "ray.exceptions.ObjectStoreFullError: Failed to put object "
     "ffffffffffffffffdf5a1a820100000002000000 in object store because it is full. Object size is "
     "25892330588 bytes."},
    {"disk_full_or_quota", "host_oom_kill",
     "ray.exceptions.OutOfDiskError: Local disk is full\n"
     "The object cannot be created because the local object store is full and the local disk's "
     "utilization is over capacity (95% by default)."},
    {"segmentation_fault", "child_failed task_killed",
     "(raylet) [2021-03-23 10:13:18,161 C 12236 12236] local_object_manager.cc:316:  Check failed: "
     "objects_pending_restore_.emplace(object_id).second Object dedupe wasn't done properly.\n"
     "(raylet) [2021-03-23 10:13:18,227 E 12236 12236] logging.cc:415: *** SIGABRT "
     "(@0x3e800002fcc) received by PID 12236 (TID 0x7f928dc00800) from PID 12236; stack trace: "
     "***"},
    {"rendezvous_failure", "child_failed",
     "subprocess.CalledProcessError: Command 'ssh -o PasswordAuthentication=no 192.168.3.100 "
     "hostname' returned non-zero exit status 255.\n"
     "During handling of the above exception, another exception occurred:\n"
     "Traceback (most recent call last):\n"
     "RuntimeError: Using hostfile at hostfile but host=192.168.3.100 was not reachable via ssh. "
     "If you are running with a single node please remove hostfile or setup passwordless ssh."},
    {"rendezvous_failure", "file_system_error",
     "172.17.0.2: trainer@172.17.0.2: Permission denied (publickey,password).\n"
     "pdsh@6dca91c32bfd: 172.17.0.2: ssh exited with exit code 255"},
    {"nccl_system_error", "rendezvous_failure",
     "node-64:3942408:3942500 [3] misc/socket.cc:586 NCCL WARN socketPollConnect poll() returned "
     "1, no POLLOUT events"},
    {"peer_lost", "nccl_system_error nccl_error rendezvous_failure",
     "node-1:811:902 [0] misc/socket.cc:71 NCCL WARN socketProgress: Connection closed by remote "
     "peer 10.10.1.3<36138>"},
    {"nccl_system_error", "nccl_error peer_lost",
     "host:22337:22453 [6] proxy.cc:1097 NCCL WARN [Proxy Service 14] Failed to execute operation "
     "Connect from rank 14, retcode 2"},
    {"nccl_system_error", "nccl_error rendezvous_failure",
     "ubuntu:39964:40075 [0] misc/socket.cc:483 NCCL WARN socketStartConnect: Connect to "
     "10.0.0.2<45763> failed : Software caused connection abort"},
    {"nccl_system_error", "rendezvous_failure",
     "worker:101542:101934 [0] include/socket.h:403 NCCL WARN Connect to "
     "fe80::540d:bfff:fe5b:54d2%19<58973> failed : Connection timed out\n"
     "F0917 19:47:00.202469  101542 nccl_util.cpp:101] Check failed: ncclGroupEnd() : unhandled "
     "system error (2 vs. 0)"},
    {"cuda_oom", "python_exception",
     "RuntimeError: Bad StatusOr access: RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran "
     "out of memory in memory space smem. Used 1.00M of 1.00M smem. Exceeded smem capacity by "
     "1.7K."},
    {"cuda_oom", "",
     "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Attempting to reserve 14.49G at "
     "the bottom of memory. That was not possible. There are 11.20G free, 0B reserved, and 11.20G "
     "reservable."},
    {"cuda_oom", "",
     "XlaRuntimeError: RESOURCE_EXHAUSTED: E1000: CompileTimeHbmOom: Ran out of memory in memory "
     "space hbm. Used 19.73G of 15.48G hbm. Exceeded hbm capacity by 4.25G."},
    {"segmentation_fault", "python_exception child_failed",
     "F0421 10:11:12.123456   26868 tpu_program.cc:88] Check failed: xla_tpu_programs.size() > 0 "
     "(0 vs. 0)"},
    {"gpu_hardware_error", "cuda_error python_exception",
     "E1224 22:35:53.165575   26868 real_program_continuator.cc:1331] 0x0x0_TC0: *** Halt is "
     "unexpected, all pending programs will fail. This is likely an XLA compiler bug, please file "
     "a bug to xla-tpu@ and CC tfrt-devs@."},
    {"missing_module", "",
     "/root/miniconda3/envs/py3.11/bin/python: Error while finding module specification for "
     "'axolotl.cli.train' (ModuleNotFoundError: No module named 'axolotl')"},
    {"missing_module", "", "/usr/bin/python3: No module named torch.distributed.run"},
    {"missing_module", "python_exception",
     "AttributeError: /opt/venv/lib/python3.11/site-packages/bitsandbytes/libbitsandbytes_cpu.so: "
     "undefined symbol: cget_col_row_stats"},
    {"python_exception", "",
     "RuntimeError: !grad_accumulator_.expired() INTERNAL ASSERT FAILED at "
     "\"../torch/csrc/autograd/saved_variable.cpp\":226, please report a bug to PyTorch. No grad "
     "accumulator for a saved leaf"},
    {"segmentation_fault", "configuration_error",
     "F0513 18:10:11.374316   80650 parse_flags_from_env.cc:234] Unknown flag in XLA_FLAGS: "
     "--xla_gpu_enable_async_all_reduce=true\n"
     "Fatal Python error: Aborted"},
    {"tokenizer_or_data_missing", "configuration_error hf_unreachable",
     "ValueError: Unable to load tokenizer from /models/phi4: no tokenizer files were found"},
    {"configuration_error", "", "ValueError: Undefined dataset alpaca_en_x in dataset_info.json."},
    {"configuration_error", "python_exception",
     "ValueError: The number of tensor parallel ranks exceeds the number of GPUs on the node"},
    {"configuration_error", "python_exception", "ValueError: Unknown optimizer type 'adamw_8bitt'"},
    {"nccl_timeout", "rendezvous_failure",
     "torch.distributed.DistBackendError: wait timeout after 600000ms, keys: "
     "/default_pg/0//cpu//0/1 while setting up NCCL communicator"},
    {"python_exception", "",
     "torch._dynamo.exc.TorchRuntimeError: Dynamo failed to run FX node with fake tensors: "
     "call_function flex_attention(*(FakeTensor(...))): got RuntimeError('shapes do not match')"},
    {"python_exception", "child_failed",
     "RuntimeError: Caught RuntimeError in replica 0 on device 0.\n"
     "Original Traceback (most recent call last):\n"
     "RuntimeError: stack expects each tensor to be equal size, but got [512] at entry 0 and [498] "
     "at entry 1"},
    {"configuration_error", "",
     "ValueError: micro batch size (3) times data parallel size (8) must divide global batch size "
     "(128)"},
    {"configuration_error", "",
     "AssertionError: global batch size (100) is not divisible by micro batch size (4) times data "
     "parallel size (8)"},
    {"configuration_error", "",
     "AssertionError: the number of query groups (4) must be a multiple of tensor model parallel "
     "size (8)"},
    {"configuration_error", "",
     "AssertionError: hidden size (4097) must be divisible by number of attention heads"},
    {"configuration_error", "",
     "ValueError: sequence_parallel requires tensor_model_parallel_size > 1"},
    {"configuration_error", "",
     "ValueError: `expert_model_parallel_size` (16) cannot exceed number of experts (8)"},
    {"configuration_error", "",
     "AssertionError: When using context parallelism, sequence length must be divisible by 2 * "
     "context_parallel_size"},
    {"configuration_error", "",
     "AssertionError: Using CUDA graph with full iteration requires --te-rng-tracker"},
    {"configuration_error", "",
     "AssertionError: overlap-param-gather requires the distributed optimizer"},
    {"configuration_error", "", "ValueError: fp8_param requires fp8 to be enabled"},
    {"configuration_error", "python_exception",
     "TypeError: GPTConfig.__init__() got an unexpected keyword argument 'num_moe_expert'"},
    {"configuration_error", "", "KeyError: \"Recipe 'llama3_8b_pretrain' not found in registry\""},
    {"configuration_error", "python_exception",
     "ValueError: max_seq_length (8192) is larger than the model's max_position_embeddings (4096)"},
    {"configuration_error", "",
     "train.py: error: argument --micro-batch-size: invalid int value: 'two'"},
    {"configuration_error", "missing_module",
     "usage: train.py [-h] [--config CONFIG]\n"
     "train.py: error: unrecognized arguments: --foo 1"},
    {"configuration_error", "",
     "yaml.constructor.ConstructorError: could not determine a constructor for the tag '!foo'"},
    {"configuration_error", "",
     "tomllib.TOMLDecodeError: Expected '=' after a key in a key/value pair (at line 3, column 7)"},
    {"configuration_error", "tokenizer_or_data_missing",
     "hydra.errors.MissingConfigException: Cannot find primary config 'conf/llama'. Check that "
     "it's in your config search path."},
    {"configuration_error", "python_exception",
     "hydra.errors.InstantiationException: Error locating target 'nemo.collections.llm.Foo', set "
     "env var HYDRA_FULL_ERROR=1 to see chained exception."},
    {"missing_module", "",
     "ImportError: libcudnn_graph.so.9: cannot open shared object file: No such file or directory"},
    {"missing_module", "",
     "OSError: libcudart.so.11.0: cannot open shared object file: No such file or directory"},
    {"missing_module", "",
     "OSError: /usr/lib/libnccl.so.2: undefined symbol: ncclCommWindowRegister"},
    {"missing_module", "python_exception",
     "RuntimeError: The detected CUDA version (12.4) mismatches the version that was used to "
     "compile PyTorch (11.8). Please make sure to use the same CUDA versions."},
    {"missing_module", "python_exception",
     "RuntimeError: cuDNN version incompatibility: PyTorch was compiled against (9, 1, 0) but "
     "found runtime version (8, 9, 7)."},
    {"missing_module", "configuration_error python_exception",
     "ValueError: Unrecognized configuration class for this kind of AutoModel; upgrade "
     "transformers to version 4.50 or later"},
    {"missing_module", "",
     "RuntimeError: Failed to import transformers.trainer because of the following error (look up "
     "to see its traceback): No module named 'peft'"},
    {"missing_module", "", "AttributeError: module 'numpy' has no attribute 'float'"},
    {"missing_module", "",
     "pkg_resources.VersionConflict: (torch 2.1.0, Requirement.parse('torch>=2.3'))"},
    {"gpu_unavailable", "", "RuntimeError: No HIP GPUs are available"},
    {"gpu_unavailable", "",
     "RuntimeError: Unable to initialize backend 'cuda': FAILED_PRECONDITION: No visible GPU "
     "devices. (set JAX_PLATFORMS='' to automatically choose an available backend)"},
    {"gpu_unavailable", "",
     "RuntimeError: Attempting to deserialize object on CUDA device 7 but "
     "torch.cuda.device_count() is 4. Please use torch.load with map_location"},
    {"gpu_unavailable", "",
     "ValueError: FP8 is only supported on Hopper or newer GPUs (compute capability 9.0+)"},
    {"gpu_unavailable", "",
     "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that "
     "the latest NVIDIA driver is installed and running."},
    {"cuda_error", "",
     "RuntimeError: cusolver error: CUSOLVER_STATUS_INTERNAL_ERROR, when calling "
     "`cusolverDnCreate(handle)`"},
    {"cuda_error", "", "RuntimeError: CUDA driver error: operation not permitted"},
    {"cuda_error", "",
     "jaxlib.xla_extension.XlaRuntimeError: INTERNAL: Failed to launch CUDA kernel: loop_fusion "
     "with block dimensions: 128x1x1: CUDA_ERROR_LAUNCH_FAILED: unspecified launch failure"},
    {"illegal_memory_access", "",
     "XlaRuntimeError: INTERNAL: CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was "
     "encountered"},
    {"nan_loss", "", "RuntimeError: Loss is NaN or Inf at iteration 412"},
    {"nan_loss", "", "ValueError: found NaN in loss on rank 3"},
    {"nan_gradient", "",
     "RuntimeError: Function 'MulBackward0' returned nan values in its 0th output."},
    {"nan_loss", "",
     "AssertionError: Rank 5: found NaN in local forward loss calculation. Device: 5, node: n3"},
    {"checkpoint_unreadable", "",
     "_pickle.UnpicklingError: Weights only load failed. In PyTorch 2.6, we changed the default "
     "value of the `weights_only` argument"},
    {"checkpoint_unreadable", "tokenizer_or_data_missing",
     "ValueError: Can't find a valid checkpoint at /results/ckpt/step_500"},
    {"checkpoint_unreadable", "",
     "KeyError: 'optimizer.state.exp_avg.decoder.layers.0.mlp.linear_fc1.weight'"},
    {"checkpoint_unreadable", "", "RuntimeError: invalid header or archive is corrupted"},
    {"tokenizer_or_data_missing", "",
     "FileNotFoundError: [Errno 2] No such file or directory: '/data/c4/vocab.json'"},
    {"tokenizer_or_data_missing", "",
     "OSError: /models/llama3 does not appear to have a file named config.json. Checkout "
     "'https://huggingface.co//models/llama3/tree/None' for available files."},
    {"tokenizer_or_data_missing", "",
     "ValueError: Tokenizer class LlamaTokenizerFast2 does not exist or is not currently "
     "imported."},
    {"tokenizer_or_data_missing", "",
     "RuntimeError: Internal: could not parse ModelProto from /models/tokenizer.model"},
    {"tokenizer_or_data_missing", "",
     "datasets.exceptions.DatasetNotFoundError: Dataset 'foo/bar' doesn't exist on the Hub or "
     "cannot be accessed."},
    {"tokenizer_or_data_missing", "", "mmap.error: cannot mmap an empty file"},
    {"hf_unreachable", "",
     "requests.exceptions.ReadTimeout: "
     "(ReadTimeoutError(\"HTTPSConnectionPool(host='huggingface.co', port=443): Read timed out. "
     "(read timeout=10)\"), '(Request ID: x)')"},
    {"hf_authentication", "",
     "huggingface_hub.errors.HfHubHTTPError: 403 Forbidden: None. Cannot access content at: "
     "https://huggingface.co/api/models/meta-llama/Llama-3.1-405B"},
    {"disk_full_or_quota", "",
     "OSError: [Errno 122] Disk quota exceeded: '/home/u/.cache/triton/abc'"},
    {"disk_full_or_quota", "",
     "safetensors_rust.SafetensorError: Error while serializing: IoError(Os { code: 28, kind: "
     "StorageFull, message: \"No space left on device\" })"},
    {"file_system_error", "",
     "OSError: [Errno 107] Transport endpoint is not connected: '/mnt/fsx/ckpt'"},
    {"rendezvous_failure", "",
     "torch.distributed.DistNetworkError: The client socket has timed out after 300000ms while "
     "trying to connect to (node-1, 29500)."},
    {"rendezvous_failure", "",
     "ValueError: Error initializing torch.distributed using env:// rendezvous: environment "
     "variable MASTER_ADDR expected, but not set"},
    {"rendezvous_failure", "nccl_timeout",
     "torch.distributed.DistStoreError: wait timeout after 600000ms, keys: "
     "/default_pg/0//worker_count"},
    {"nccl_timeout", "gloo_error",
     "RuntimeError: [Rank 0] Ranks 3, 4 failed to pass monitoredBarrier in 1800000 ms"},
    {"task_killed", "host_oom_kill",
     "subprocess.CalledProcessError: Command '['/usr/bin/python3', 'train.py']' died with "
     "<Signals.SIGKILL: 9>."},
    {"interrupted", "", "KeyboardInterrupt"},
    {"python_exception", "", "IndexError: list index out of range"},
    {"python_exception", "", "TypeError: unsupported operand type(s) for +: 'NoneType' and 'int'"},
    {"python_exception", "",
     "RuntimeError: Expected all tensors to be on the same device, but found at least two devices, "
     "cuda:0 and cpu!"},
    {"python_exception", "",
     "RuntimeError: one of the variables needed for gradient computation has been modified by an "
     "inplace operation"},
    {"python_exception", "",
     "RuntimeError: mat1 and mat2 shapes cannot be multiplied (4096x512 and 1024x1024)"},
    {"python_exception", "", "RuntimeError: expected scalar type BFloat16 but found Float"},
    {"python_exception", "", "KeyError: 'labels'"},
    {"python_exception", "",
     "RuntimeError: Expected to have finished reduction in the prior iteration before starting a "
     "new one. This error indicates that your module has parameters that were not used in "
     "producing loss."},
    {"python_exception", "",
     "RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn"},
    {"python_exception", "",
     "ValueError: Expected input batch_size (8) to match target batch_size (4)."},
    {"python_exception", "", "AssertionError: Torch not compiled with distributed flags"},
    {"python_exception", "configuration_error",
     "NotImplementedError: Could not run 'aten::_foreach_norm' with arguments from the 'CUDA' "
     "backend."},
    {"python_exception", "", "RecursionError: maximum recursion depth exceeded"},
    {"python_exception", "",
     "UnboundLocalError: local variable 'loss' referenced before assignment"},
    {"python_exception", "", "RuntimeError: Trying to backward through the graph a second time"},
    {"nan_loss", "",
     "  File \"/opt/OLMo/olmo/train.py\", line 810, in train_step\n"
     "    raise ValueError(\"nan loss encountered\")\n"
     "ValueError: nan loss encountered"},
    {"python_exception", "", "ValueError: too many values to unpack (expected 4)"},
    {"configuration_error", "gpu_unavailable",
     "lightning_fabric.utilities.exceptions.MisconfigurationException: You requested gpu: [1]\n"
     " But your machine only has: [0]"},
    {"configuration_error", "",
     "ValueError: You selected an invalid strategy name: `strategy=None`. It must be either a "
     "string or an instance of `pytorch_lightning.strategies.Strategy`. Example choices: auto, "
     "ddp, ddp_spawn, deepspeed, ..."},
    {"configuration_error", "python_exception",
     "pytorch_lightning.utilities.exceptions.MisconfigurationException: "
     "ModelCheckpoint(monitor='val_loss') not found in the returned metrics: ['loss', 'l_mle']. "
     "HINT: Did you call self.log('val_loss', value) in the LightningModule?"},
    {"configuration_error", "python_exception",
     "pytorch_lightning.utilities.exceptions.MisconfigurationException: No `test_dataloader()` "
     "method defined to run `Trainer.test`."},
    {"python_exception", "", "AttributeError: 'Trainer' object has no attribute 'num_devices'"},
    {"missing_module", "gpu_unavailable python_exception cuda_error",
     "ptxas fatal   : Value 'sm_121a' is not defined for option 'gpu-name'\n"
     "triton.runtime.errors.PTXASError: PTXAS error: Internal Triton PTX codegen error"},
    {"python_exception", "missing_module",
     "torch._dynamo.exc.BackendCompilerFailed: backend='inductor' raised:\n"
     "RuntimeError: Internal Triton PTX codegen error: \n"
     "ptxas /tmp/compile-ptx-src-d54ff1, line 150; error   : Feature 'Kernel parameter size larger "
     "than 4352 bytes' requires PTX ISA .version 8.1 or later"},
    {"python_exception", "host_oom_kill",
     "_pickle.PicklingError: Can't pickle <class 'MemoryError'>: it's not the same object as "
     "builtins.MemoryError"},
    {"checkpoint_unreadable", "tokenizer_or_data_missing python_exception",
     "    training_predictors = pickle.load(f)\n"
     "EOFError: Ran out of input"},
    {"tokenizer_or_data_missing", "file_system_error", "RuntimeError: No data left in file"},
    {"checkpoint_unreadable", "tokenizer_or_data_missing",
     "_pickle.UnpicklingError: Caught UnpicklingError in DataLoader worker process 3.\n"
     "Original Traceback (most recent call last):\n"
     "_pickle.UnpicklingError: pickle data was truncated"},
    {"host_oom_kill", "",
     "2019-05-30T21:59:29 ERROR: DataLoader worker (pid 4347) is killed by signal: Killed. "},
    {"file_system_error", "tokenizer_or_data_missing",
     "ValueError: /data/.vector_cache/wiki.en.bin cannot be opened for loading!"},
    {"missing_module", "",
     "ModuleNotFoundError: No module named 'mlx_vlm.models.nemotronh_nano_omni_reasoning_v3'"},
    {"configuration_error", "missing_module python_exception",
     "ERROR:root:Model type nemotronh_nano_omni_reasoning_v3 not supported. Error: No module named "
     "'mlx_vlm.models.nemotronh'\n"
     "ValueError: Model type nemotronh_nano_omni_reasoning_v3 not supported."},
    {"gpu_unavailable", "missing_module python_exception",
     "nvcc fatal   : Unsupported gpu architecture 'compute_100a'\n"
     "ninja: build stopped: subcommand failed.\n"
     "RuntimeError: The current GPU architecture 12.1 is not supported by this build"},
    {"python_exception", "configuration_error",
     "torch._dynamo.exc.FailOnRecompileLimitHit: recompile_limit reached with fullgraph=True"},
    {"python_exception", "", "RuntimeError: Pin memory thread exited unexpectedly"},
    {"python_exception", "",
     "torch._dynamo.exc.InternalTorchDynamoError: AttributeError: 'NoneType' object has no "
     "attribute 'guards'"},
    {"disk_full_or_quota", "file_system_error checkpoint_unreadable",
     "terminate called after throwing an instance of 'c10::Error'\n"
     "  what():  [enforce fail at inline_container.cc:664] . unexpected pos 704 vs 598"},
    {"nan_loss", "", "2025-03-30T22:13:15Z FATAL sanity: loss is nan on 8/8 ranks, giving up"},
    {"nccl_system_error", "",
     "n1:12:40 [0] ofi_process_cq:1194 NCCL WARN NET/OFI Request 0x40 completed with error. RC: 5. "
     "Error: 0 (Input/output error). Completed length: 0"},
    {"tokenizer_or_data_missing", "file_system_error",
     "forrtl: severe (29): file not found, unit 21, file /scratch/tokens/part_017.bin"},
    {"segmentation_fault", "", "forrtl: severe (174): SIGSEGV, segmentation fault occurred"},
    {"tokenizer_or_data_missing", "file_system_error",
     "Fortran runtime error: File 'tokens.bin' does not exist"},
}};

}  // namespace llmb::parser
