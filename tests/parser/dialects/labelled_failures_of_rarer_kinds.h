// Still more labelled failures, of rarer kinds: what libraries, compilers, drivers, shells,
// schedulers and object stores print, from public threads, labelled before this project's reader
// had seen them.
#pragma once

#include <array>

#include "labelled_failures.h"

namespace llmb::parser {

inline constexpr std::array<Failure, 101> kFailuresOfRarerKinds = {{
    {"nccl_system_error", "nccl_error",
     "ip-172-32-45-165:72593:73427 [7] create_nccl_ofi_component:459 NCCL WARN NET/OFI Couldn't "
     "open AV. RC: -22, ERROR: Invalid argument"},
    {"nccl_system_error", "nccl_error",
     "ip-10-36-29-253:79:185 [0] nccl_net_ofi_domain_get_ep:969 NCCL WARN NET/OFI Creating new "
     "endpoint for domain 0x7f9befa99380 failed: Invalid argument"},
    {"nccl_system_error", "nccl_error rendezvous_failure",
     "torch.distributed.DistBackendError: NCCL error in: "
     "../torch/csrc/distributed/c10d/NCCLUtils.hpp:275, unhandled system error (run with "
     "NCCL_DEBUG=INFO for details), NCCL version 2.20.5\n"
     "ncclSystemError: System call (e.g. socket, malloc) or external library call failed or device "
     "error.\n"
     "Last error:\n"
     "socketStartConnect: Connect to 169.254.0.1<40815> failed : Software caused connection abort"},
    {"missing_module", "python_exception",
     "torch._dynamo.exc.BackendCompilerFailed: backend='inductor' raised:\n"
     "RuntimeError: Cannot find a working triton installation. More information on installing "
     "Triton can be found at https://github.com/openai/triton"},
    {"python_exception", "missing_module",
     "torch._dynamo.exc.BackendCompilerFailed: backend='inductor' raised:\n"
     "CalledProcessError: Command '['/usr/bin/gcc', '/tmp/tmpq3q4/main.c', '-O3', '-shared', "
     "'-fPIC', '-o', '/tmp/tmpq3q4/cuda_utils.so', '-lcuda']' returned non-zero exit status 1."},
    {"python_exception", "configuration_error",
     "triton.compiler.errors.CompilationError: at 21:18:\n"
     "    x = tl.load(in_ptr0 + (r0_3 + 128*x4), rmask, other=0.0).to(tl.float32)\n"
     "                  ^"},
    {"cuda_error", "gpu_unavailable python_exception",
     "torch._dynamo.exc.BackendCompilerFailed: backend='inductor' raised:\n"
     "RuntimeError: Triton Error [CUDA]: device kernel image is invalid"},
    {"configuration_error", "python_exception missing_module",
     "ValueError: No dot product attention backend is available for the provided inputs. Please "
     "run with NVTE_DEBUG=1 NVTE_DEBUG_LEVEL=2 to find out the reasons for disabling all "
     "backends."},
    {"missing_module", "configuration_error python_exception",
     "  File \"/usr/lib/python3/dist-packages/transformer_engine/pytorch/attention.py\", line "
     "3099, in __init__\n"
     "    assert (\n"
     "AssertionError: FlashAttention maximum version 2.5.8 is supported."},
    {"cuda_error", "python_exception",
     "E! CuDNN (v90100 70) function cudnnBackendFinalize() called:\n"
     "e!         Error: CUDNN_STATUS_EXECUTION_FAILED; Reason: rtc->loadModule()\n"
     "e!         Error: CUDNN_STATUS_EXECUTION_FAILED; Reason: ptr.isSupported()\n"
     "e! Time: 2025-01-14T00:21:03.310308 (0d+0h+3m+34s since start)\n"
     "e! Process=381629; Thread=381629; GPU=NULL; Handle=NULL; StreamId=NULL."},
    {"cuda_error", "python_exception configuration_error",
     "RuntimeError: cuDNN Frontend error: [cudnn_frontend] Error: No valid execution plans built."},
    {"cuda_error", "python_exception",
     "RuntimeError: /TransformerEngine/transformer_engine/common/gemm/cublaslt_gemm.cu:282 in "
     "function cublas_gemm: cuBLAS Error: the requested functionality is not supported"},
    {"cuda_error", "python_exception",
     "RuntimeError: cuBLAS error at /workspace/csrc/gemm/gemm_runner.cu:125 code=15"},
    {"configuration_error", "python_exception",
     "AssertionError: Context parallelism is only implemented with Flash Attention and Fused "
     "Attention!"},
    {"missing_module", "configuration_error gpu_unavailable python_exception",
     "    assert fp8_available, reason_for_no_fp8\n"
     "AssertionError: CublasLt version 12.1.3.x or higher required for FP8 execution on Ada."},
    {"tokenizer_or_data_missing", "configuration_error",
     "AssertionError: Index file doesn't match expected format. Make sure that --dataset-impl is "
     "configured properly."},
    {"python_exception", "configuration_error",
     "  File \"/opt/Megatron-DeepSpeed/megatron/data/blendable_dataset.py\", line 36, in "
     "_build_indices\n"
     "    assert num_datasets < 255\n"
     "AssertionError"},
    {"configuration_error", "tokenizer_or_data_missing",
     "    assert tokenizer_path, \"Tokenizer path must be specified.\"\n"
     "           ^^^^^^^^^^^^^^\n"
     "AssertionError: Tokenizer path must be specified."},
    {"checkpoint_unreadable", "configuration_error",
     "megatron.core.dist_checkpointing.core.CheckpointingException: Global shape mismatch for "
     "loaded (torch.Size([50304, 4096])) and expected ((50432, 4096)) tensor for key "
     "embedding.word_embeddings.weight"},
    {"disk_full_or_quota", "file_system_error checkpoint_unreadable",
     "RuntimeError: [enforce fail at inline_container.cc:664] . unexpected pos 704 vs 598"},
    {"checkpoint_unreadable", "python_exception",
     "Traceback (most recent call last): (RANK 7)\n"
     "  File \"/usr/lib/python3/dist-packages/torch/distributed/checkpoint/utils.py\", line 192, "
     "in reduce_scatter\n"
     "    local_data = map_fun()\n"
     "                 ^^^^^^^^^\n"
     "  File \"/usr/lib/python3/dist-packages/torch/distributed/checkpoint/state_dict_loader.py\", "
     "line 250, in local_step\n"
     "    assert metadata is not None\n"
     "           ^^^^^^^^^^^^^^^^^^^^\n"
     "AssertionError\n"
     "torch.distributed.checkpoint.api.CheckpointException: CheckpointException "
     "ranks:dict_keys([0, 1, 2, 3, 4, 5, 6, 7])"},
    {"checkpoint_unreadable", "python_exception",
     "Traceback (most recent call last): (RANK 3)\n"
     "  File "
     "\"/opt/conda/lib/python3.9/site-packages/torch/distributed/_shard/checkpoint/"
     "default_planner.py\", line 131, in create_default_local_load_plan\n"
     "    md = metadata.state_dict_metadata[fqn]\n"
     "KeyError: 'pos_embedding'"},
    {"checkpoint_unreadable", "",
     "safetensors_rust.SafetensorError: Error while deserializing header: "
     "MetadataIncompleteBuffer"},
    {"file_system_error", "",
     "OSError: [Errno 108] Cannot send after transport endpoint shutdown: "
     "'/lustre/work/ckpt/iter_0000500'"},
    {"file_system_error", "", "OSError: [Errno 116] Stale file handle: '/nfs/data/blend.idx'"},
    {"srun_launch_error", "node_failure",
     "srun: error: slurm_receive_msgs: [[n1.cluster]:6818] failed: Socket timed out on send/recv "
     "operation\n"
     "srun: error: Task launch for StepId=96.0 failed on node n2: No such process\n"
     "srun: error: Application launch failed: Socket timed out on send/recv operation\n"
     "srun: Job step aborted"},
    {"container_error", "",
     "slurmstepd: error: pyxis: seccomp filter failed: Function not implemented"},
    {"container_error", "file_system_error",
     "slurmstepd: error: pyxis: couldn't execute enroot command\n"
     "slurmstepd: error: pyxis: printing enroot log file:\n"
     "slurmstepd: error: pyxis:     mkdir: cannot create directory '/opt/tmp/enroot/data': "
     "Permission denied\n"
     "slurmstepd: error: spank: required plugin spank_pyxis.so: task_init() failed with rc=-1"},
    {"rendezvous_failure", "srun_launch_error",
     "Host key verification failed.\n"
     "--------------------------------------------------------------------------\n"
     "ORTE was unable to reliably start one or more daemons.\n"
     "This usually is caused by:"},
    {"srun_launch_error", "missing_module rendezvous_failure",
     "bash: orted: command not found\n"
     "--------------------------------------------------------------------------\n"
     "ORTE was unable to reliably start one or more daemons.\n"
     "This usually is caused by:"},
    {"rendezvous_failure", "srun_launch_error child_failed task_killed nccl_error",
     "*** An error occurred in MPI_Init_thread\n"
     "*** on a NULL communicator\n"
     "*** MPI_ERRORS_ARE_FATAL (processes in this communicator will now abort,\n"
     "***    and potentially your MPI job)\n"
     "[host1:71142] Local abort before MPI_INIT completed completed successfully, but am not able "
     "to aggregate error messages, and not able to guarantee that all other processes were "
     "killed!"},
    {"missing_module", "",
     "ImportError: /lib64/libc.so.6: version `GLIBC_2.32' not found (required by "
     "/opt/venv/lib/python3.10/site-packages/flash_attn_2_cuda.cpython-310-x86_64-linux-gnu.so)"},
    {"missing_module", "",
     "RuntimeError: Failed to import transformers.models.siglip.modeling_siglip because of the "
     "following error (look up to see its traceback):\n"
     "/lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.32' not found (required by "
     "/opt/venv/lib/python3.10/site-packages/flash_attn_2_cuda.cpython-310-x86_64-linux-gnu.so)"},
    {"illegal_memory_access", "",
     "torch.AcceleratorError: HIP error: an illegal memory access was encountered\n"
     "Search for `hipErrorIllegalAddress' in "
     "https://docs.nvidia.com/cuda/cuda-runtime-api/group__HIPRT__TYPES.html for more "
     "information."},
    {"gpu_hardware_error", "gpu_process_error",
     "[  742.771441] amdgpu 0000:2f:00.0: amdgpu: MES failed to respond to msg=REMOVE_QUEUE\n"
     "[  742.771470] amdgpu 0000:2f:00.0: amdgpu: GPU reset begin!"},
    {"cuda_error", "python_exception gpu_hardware_error",
     "RuntimeError: [Rank:6] FATAL ERROR :: MODULE:PT_BRIDGE Exception in Launch thread...\n"
     "Check $HABANA_LOGS/ for detailsGraph compile failed. synStatus=synStatus 26 [Generic "
     "failure].\n"
     "[Rank:6] Habana exception raised from compile at graph.cpp:599"},
    {"cuda_error", "python_exception",
     "RuntimeError: synNodeCreateWithId failed for node: batch_gemm with synStatus 26 [Generic "
     "failure]. ."},
    {"segmentation_fault", "child_failed task_killed",
     "E0531 07:47:31.003927   10044 coredump_hook.cc:470] RAW: Remote crash data gathering hook "
     "invoked.\n"
     "*** SIGABRT received by PID 9361 (TID 9361) on cpu 40 from PID 9361; stack trace: ***\n"
     "PC: @     0x7f651c696a7c  (unknown)  pthread_kill\n"
     "    @     0x7f47cc042520  (unknown)  (unknown)"},
    {"peer_lost", "python_exception rendezvous_failure",
     "RuntimeError: tensorflow/compiler/xla/xla_client/xrt_computation_client.cc:421 : Check "
     "failed: session->session()->Run(session_work->feed_inputs, session_work->outputs_handles, "
     "&outputs) == ::tensorflow::Status::OK() (Aborted: Session 018370a5591ff66c is not found. vs. "
     "OK)"},
    {"child_failed", "task_killed host_oom_kill",
     "(raylet) A worker died or was killed while executing a task by an unexpected system error. "
     "To troubleshoot the problem, check the logs for the dead worker. Worker exit type: "
     "SYSTEM_ERROR Worker exit detail: Worker unexpectedly exits with a connection error code 2. "
     "End of file. There are some potential root causes. (1) The process is killed by SIGKILL by "
     "OOM killer due to high memory usage."},
    {"node_failure", "child_failed peer_lost",
     "ray.exceptions.ActorDiedError: The actor died unexpectedly before finishing this task.\n"
     "\tclass_name: create_colocated_worker_cls.<locals>.WorkerDict\n"
     "\tpid: 166642\n"
     "The actor is dead because its worker process has died. Worker exit type: SYSTEM_ERROR Worker "
     "exit detail: Owner's node has crashed."},
    {"configuration_error", "gpu_unavailable python_exception",
     "ValueError: Total available GPUs 4 is less than total desired GPUs 8"},
    {"configuration_error", "",
     "omegaconf.errors.InterpolationResolutionError: ValueError raised while resolving "
     "interpolation: HydraConfig was not set\n"
     "    full_key: hydra.sweep.dir\n"
     "    reference_type=SweepDir"},
    {"configuration_error", "",
     "Error executing job with overrides: ['data.train_batch_size=4', "
     "'actor_rollout_ref.rollout.n=8']\n"
     "omegaconf.errors.InterpolationKeyError: Interpolation key 'model.hidden_size' not found\n"
     "    full_key: trainer.hidden"},
    {"nccl_system_error", "peer_lost",
     "[node-12:2330856:0:2330856] ib_mlx5_log.c:177  Transport retry count exceeded on mlx5_0:1/IB "
     "(synd 0x15 vend 0x81 hw_synd 0/0)\n"
     "[node-12:2330856:0:2330856] ib_mlx5_log.c:177  DCI QP 0xd16 wqe[6168]: SEND s-e [rqpn 0x17de "
     "rlid 1037] [va 0x7f9f745cea80 len 5770 lkey 0x15de4]\n"
     "==== backtrace (tid:2330856) ====\n"
     " 0  /usr/local/ucx/lib/libucs.so.0(ucs_handle_error+0x294) [0x7fada58370a4]"},
    {"shared_memory_full", "",
     "ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient "
     "shared memory (shm).\n"
     "RuntimeError: DataLoader worker (pid 325) is killed by signal: Bus error."},
    {"task_killed", "shared_memory_full segmentation_fault",
     "2019-04-16 11:58:14  Initializing global model...\n"
     "Bus error (core dumped)"},
    {"nan_gradient", "python_exception",
     "Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to 5e-324\n"
     "Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to 0.0\n"
     "  File \"/opt/apex/amp/scaler.py\", line 57, in unscale\n"
     "ZeroDivisionError: float division by zero"},
    {"hf_unreachable", "",
     "requests.exceptions.HTTPError: 503 Server Error: Service Temporarily Unavailable for url: "
     "https://huggingface.co/timm/vit_large_patch16_384/resolve/main/model.safetensors\n"
     "huggingface_hub.utils._errors.HfHubHTTPError: 503 Server Error: Service Temporarily "
     "Unavailable for url: "
     "https://huggingface.co/timm/vit_large_patch16_384/resolve/main/model.safetensors"},
    {"hf_unreachable", "python_exception",
     "huggingface_hub.utils._http.OfflineModeIsEnabled: Cannot reach "
     "https://huggingface.co/meta-llama/Llama-2-7b-chat-hf/resolve/main/config.json: offline mode "
     "is enabled. To disable it, please unset the `HF_HUB_OFFLINE` environment variable."},
    {"hf_unreachable", "rendezvous_failure",
     "requests.exceptions.ConnectionError: HTTPSConnectionPool(host='huggingface.co', port=443): "
     "Max retries exceeded with url: /api/models/Qwen/Qwen3-8B (Caused by "
     "ConnectTimeoutError(<urllib3.connection.HTTPSConnection object at 0x000002551770DC00>, "
     "'Connection to huggingface.co timed out. (connect timeout=10)'))"},
    {"tokenizer_or_data_missing", "hf_unreachable",
     "OSError: Can't load the model for 'Qwen/Qwen3-8B'. If you were trying to load it from "
     "'https://huggingface.co/models', make sure you don't have a local directory with the same "
     "name. Otherwise, make sure 'Qwen/Qwen3-8B' is the correct path to a directory containing a "
     "file named pytorch_model.bin."},
    {"host_oom_kill", "",
     "The node was low on resource: memory. Container trainer was using 505321600Ki, which exceeds "
     "its request of 0."},
    {"host_oom_kill", "preempted node_failure",
     "4m7s        Warning   Evicted               pod/trainer-0    The node had condition: "
     "[MemoryPressure]."},
    {"gpu_hardware_error", "",
     "kernel: NVRM: Xid (PCI:0000:dc:00): 149, NETIR_LINK_EVT Fatal XC0 i0 Link 00 (0x026001c6 "
     "0x00000000 0x00000000 0x00000000 0x00000000 0x00000000)\n"
     "kernel: NVRM: Xid (PCI:0000:dc:00): 45, pid=1818990, name=python3, Ch 00000001 caused by "
     "previous Xid 149"},
    {"gpu_process_error", "illegal_memory_access cuda_error",
     "[Fri Aug 30 11:43:09 2024] NVRM: Xid (PCI:0000:cb:00): 13, pid='<unknown>', name=<unknown>, "
     "Graphics SM Warp Exception on (GPC 7, TPC 7, SM 0): Illegal Instruction Parameter"},
    {"gpu_hardware_error", "",
     "kernel: nvidia-nvswitch3: SXid (PCI:0000:c4:00.0): 20034, Fatal, Link 30 LTSSM Fault Up"},
    {"tokenizer_or_data_missing", "python_exception",
     "RuntimeError: Failed to download s3://my_bucket/path/to/data/my_dataset/train/index.json -> "
     "/tmp/tmp95xvpyl_/train/index.json. Got errors:\n"
     "[ClientError('Object s3://my_bucket/path/to/data/my_dataset/train/index.json not found! "
     "Either check the bucket path or the bucket permission.')]\n"
     "ERROR:composer.cli.launcher:Rank 0 crashed with exit code 1."},
    {"tokenizer_or_data_missing", "python_exception",
     "  File \"/usr/lib/python3.10/tarfile.py\", line 2299, in next\n"
     "    tarinfo = self.tarinfo.fromtarfile(self)\n"
     "tarfile.ReadError: bad checksum"},
    {"nccl_timeout", "nccl_error",
     "[E ProcessGroupNCCL.cpp:915] [Rank 0] NCCL watchdog thread terminated with exception: NCCL "
     "communicator was aborted on rank 1. Original reason for failure was: [Rank 1] Watchdog "
     "caught collective operation timeout: WorkNCCL(SeqNum=42, OpType=_ALLGATHER_BASE, "
     "NumelIn=8388608, NumelOut=67108864, Timeout(ms)=1800000) ran for 1800774 milliseconds before "
     "timing out."},
    {"gpu_unavailable", "",
     "2018-12-20 09:24:00.631918: E external/xla/xla/stream_executor/cuda/cuda_driver.cc:397] "
     "failed call to cuInit: CUDA_ERROR_NO_DEVICE"},
    {"nccl_error", "cuda_error",
     "tensorflow.python.framework.errors_impl.UnknownError: ncclCommInitRank failed: unhandled "
     "cuda error\n"
     "\t [[{{node HorovodBroadcast_filter_type_0_matrix_3_0_0}}]]"},
    {"segmentation_fault", "child_failed",
     "W0815 03:11:00.120000 5110 torch/distributed/elastic/multiprocessing/api.py:900] Sending "
     "process 5121 closing signal SIGTERM\n"
     "E0815 03:11:00.520000 5110 torch/distributed/elastic/multiprocessing/api.py:874] failed "
     "(exitcode: -11) local_rank: 0 (pid: 5120) of binary: /root/miniconda3/bin/python"},
    {"configuration_error", "",
     "AssertionError: virtual_pipeline_model_parallel_size conflicts with "
     "pipeline_model_parallel_layout, (self.virtual_pipeline_model_parallel_size=1,  "
     "detected_vpp_size=4)"},
    {"configuration_error", "",
     "RuntimeError: decoder world_size (4) is not divisible by "
     "expert_tensor_model_pipeline_parallel size (8)"},
    {"python_exception", "configuration_error",
     "  File \"/opt/Megatron-Bridge/src/megatron/bridge/utils/instantiate_utils.py\", line 335, in "
     "_call_target\n"
     "    return _target_(*args, **kwargs)\n"
     "           ^^^^^^^^^^^^^^^^^^^^^^^^^\n"
     "TypeError: PipelineParallelLayerLayout.__init__() missing 2 required positional arguments: "
     "'layout' and 'pipeline_model_parallel_size'"},
    {"configuration_error", "",
     "ValueError: Cannot use sequence parallelism without tensor parallelism"},
    {"configuration_error", "python_exception",
     "ValueError: Only one of self.fp16: True and self.bf16 True should be True."},
    {"configuration_error", "python_exception",
     "RuntimeError: pipeline-model-parallel size should be greater than 1 with interleaved "
     "schedule"},
    {"nccl_system_error", "nccl_error gpu_unavailable",
     "/dvs/p4/build/sw/rel/gpgpu/toolkit/r13.0/main_nvshmem/src/modules/transport/ibgda/"
     "ibgda.cpp:2234: NULL value Unable to create ah.\n"
     "/dvs/p4/build/sw/rel/gpgpu/toolkit/r13.0/main_nvshmem/src/modules/transport/ibgda/"
     "ibgda.cpp:2966: non-zero status: 7 create DCT share err.\n"
     "/dvs/p4/build/sw/rel/gpgpu/toolkit/r13.0/main_nvshmem/src/host/transport/transport.cpp:420: "
     "non-zero status: 7 connect EPS failed"},
    {"nccl_error", "nccl_system_error rendezvous_failure",
     "/opt/nvshmem/src/host/transport/transport.cpp:nvshmemi_transport_init:287: Unable to "
     "initialize any transports. returning error.\n"
     "/opt/nvshmem/src/host/init/init.cu:995: non-zero status: 7 nvshmem detect topo failed\n"
     "/opt/nvshmem/src/host/init/init.cu:nvshmemi_check_state_and_init:1080: nvshmem "
     "initialization failed, exiting"},
    {"rendezvous_failure", "nccl_error nccl_system_error",
     "/opt/nvshmem/install/include/host/nvshmemx_api.h:63: non-zero status: 7: Connection timed "
     "out, exiting...\n"
     "aborting due to error in nvshmemi_init_thread"},
    {"missing_module", "",
     "nvlink error   : Undefined reference to 'nvshmemi_ibgda_device_state_d' in "
     "'/usr/src/DeepEP/build/temp.linux-x86_64-cpython-312/csrc/kernels/internode_ll.o'\n"
     "ninja: build stopped: subcommand failed.\n"
     "RuntimeError: Error compiling objects for extension"},
    {"rendezvous_failure", "peer_lost",
     "ERROR:torch.distributed.elastic.agent.server.api:Error waiting on exit barrier. Elapsed: "
     "315.7792458534241 seconds\n"
     "Traceback (most recent call last):\n"
     "  File \"/usr/lib/python3/dist-packages/torch/distributed/elastic/utils/store.py\", line 34, "
     "in get_all\n"
     "    data = store.get(f\"{prefix}{idx}\")\n"
     "RuntimeError: Socket Timeout"},
    {"rendezvous_failure", "", "torch.distributed.elastic.rendezvous.api.RendezvousClosedError"},
    {"host_oom_kill", "configuration_error python_exception checkpoint_unreadable",
     "ValueError: Requested more bytes than we reserved space for: 96636764160 > 96000000000"},
    {"checkpoint_unreadable", "tokenizer_or_data_missing",
     "FileNotFoundError: Checkpoint at /gcs/run/checkpoints/40/items not found."},
    {"peer_lost", "nccl_timeout node_failure",
     "F1122 10:11:12.000000   10044 client.h:80] Terminating process because the JAX distributed "
     "service detected fatal errors. This most likely indicates that another task died; see the "
     "other task logs for more details. Disable Python buffering, i.e. `python -u`, to be sure to "
     "see all the previous output. absl::Status: UNAVAILABLE: The tasks have crashed"},
    {"nccl_timeout", "cuda_error nccl_error",
     "EI0002: 2024-09-03-16:50:00.041.231 The wait execution of the Notify register times out. "
     "Reason: The Notify register has not received the Notify record from remote rank "
     "[4294967295].base information: [streamID:[1], taskID[39], taskType[Notify Wait], "
     "tag[AllReduce_192.168.0.116].]\n"
     "        Possible Cause: 1. An exception occurs during the execution on some NPUs in the "
     "cluster."},
    {"nccl_error", "rendezvous_failure nccl_timeout",
     "EI0009: [PID: 2225827] 2025-09-24-20:59:48.119.066 Transport init error. Reason: "
     "[Create][DestLink]Create Dest error! createLink para:rank[1]-localUserrank[1]\n"
     "        Solution: Check other NPUs that are not reporting errors, or check if there are any "
     "abnormalities on the other end's NPU."},
    {"cuda_error", "python_exception nccl_timeout",
     "RuntimeError: npuSynchronizeDevice:torch_npu/csrc/core/npu/NPUStream.cpp:435 NPU function "
     "error: aclrtSynchronizeDevice, error code is 507046\n"
     "EE1002: 2024-09-03-16:50:00.041.231 Stream synchronize timeout. rtDeviceSynchronize execute "
     "failed, reason=[stream sync timeout]"},
    {"missing_module", "python_exception",
     "ImportError: /root/.cache/torch_extensions/py39_cu121/fused_adam/fused_adam.so: cannot open "
     "shared object file: No such file or directory\n"
     "[2023-12-31 16:34:44,479] [INFO] [launch.py:315:sigkill_handler] Killing subprocess 1589354\n"
     "[2023-12-31 16:34:44,517] [ERROR] [launch.py:321:sigkill_handler] ['/opt/bin/python', '-u', "
     "'train.py', '--local_rank=1'] exits with return code = 1"},
    {"missing_module", "configuration_error python_exception",
     "deepspeed.ops.op_builder.builder.MissingCUDAException: CUDA_HOME does not exist, unable to "
     "compile CUDA op(s)"},
    {"python_exception", "cuda_error configuration_error",
     "2024-04-30 21:07:46.000986:  136004  ERROR ||NEURON_CC_WRAPPER||: Failed compilation with "
     "['neuronx-cc', 'compile', '--target=trn1', '--framework=XLA', '/tmp/model.hlo_module.pb', "
     "'--verbose=35']: 2024-04-30T20:50:00Z [TEN404] Internal tensorizer error - Please open a "
     "support ticket\n"
     "2024-04-30 21:07:47.013728: F ./torch_xla/csrc/runtime/debug_macros.h:20] Non-OK-status: "
     "status.status() status: INTERNAL: RunNeuronCCImpl: error condition error != 0: <class "
     "'subprocess.CalledProcessError'>: Command '' died with <Signals.SIGHUP: 1>."},
    {"cuda_error", "gpu_hardware_error python_exception",
     "RuntimeError: INTERNAL: From /job:c_localservice/replica:0/task:0:\n"
     "2 root error(s) found.\n"
     "  (0) INTERNAL: Nrt::Load failed on NeuronCores 0-0(2): nrt_load status=1, error "
     "message=\"Non specific failure\".\n"
     "\t [[{{node XRTExecute}}]]"},
    {"tokenizer_or_data_missing", "python_exception",
     "pyarrow.lib.ArrowInvalid: JSON parse error: Column() changed from object to array in row 0\n"
     "The above exception was the direct cause of the following exception:\n"
     "Traceback (most recent call last):\n"
     "datasets.exceptions.DatasetGenerationError: An error occurred while generating the dataset"},
    {"tokenizer_or_data_missing", "hf_unreachable python_exception",
     "ValueError: Couldn't find cache for allenai/c4 for config 'en' Available configs in the "
     "cache: ['default-0123']"},
    {"tokenizer_or_data_missing", "python_exception",
     "json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)"},
    {"python_exception", "child_failed",
     "(EngineCore_DP0 pid=59619) ERROR 10-15 08:32:29 [core.py:708] EngineCore failed to start.\n"
     "(EngineCore_DP0 pid=59619) ERROR 10-15 08:32:29 [core.py:708] Traceback (most recent call "
     "last):\n"
     "(EngineCore_DP0 pid=59619) ERROR 10-15 08:32:29 [core.py:708] AttributeError: 'Qwen2Config' "
     "object has no attribute 'rope_theta2'\n"
     "(train_agent pid=710907) RuntimeError: Engine core initialization failed. See root cause "
     "above. Failed core proc(s): {}"},
    {"cuda_oom", "",
     "(EngineCore_DP0 pid=59619) ERROR 10-15 08:32:29 [core.py:708] torch.OutOfMemoryError: CUDA "
     "out of memory. Tried to allocate 1.02 GiB. GPU 0 has a total capacity of 79.11 GiB of which "
     "512.00 MiB is free.\n"
     "(APIServer pid=11235) RuntimeError: Engine core initialization failed. See root cause above. "
     "Failed core proc(s): {}"},
    {"file_limit", "host_oom_kill",
     "OpenBLAS blas_thread_init: pthread_create failed for thread 50 of 64: Resource temporarily "
     "unavailable\n"
     "OpenBLAS blas_thread_init: RLIMIT_NPROC 4096 current, 513046 max\n"
     "RuntimeError: can't start new thread"},
    {"file_limit", "host_oom_kill python_exception",
     "libgomp: Thread creation failed: Resource temporarily unavailable"},
    {"container_error", "",
     "INFO:    Setting --writable-tmpfs (required by nvidia-container-cli)\n"
     "FATAL:   container creation failed: exec: \"/usr/bin/nvidia-container-cli\": stat "
     "/usr/bin/nvidia-container-cli: no such file or directory"},
    {"python_exception", "hf_authentication configuration_error rendezvous_failure",
     "wandb: ERROR failed to upsert bucket: returned error 403 Forbidden: "
     "{\"errors\":[{\"message\":\"permission "
     "denied\",\"path\":[\"upsertBucket\"],\"extensions\":{\"code\":\"PERMISSION_ERROR\"}}],"
     "\"data\":{\"upsertBucket\":null}}\n"
     "wandb.errors.errors.CommError: failed to upsert bucket: returned error 403 Forbidden: "
     "{\"errors\":[{\"message\":\"permission denied\",\"path\":[\"upsertBucket\"]}]}"},
    {"configuration_error", "python_exception",
     "wandb.errors.errors.UsageError: api_key not configured (no-tty). call "
     "wandb.login(key=[your_api_key])"},
    {"tokenizer_or_data_missing", "file_system_error python_exception",
     "OSError: Could not find a suitable TLS CA certificate bundle, invalid path: "
     "/etc/pki/tls/certs/ca-bundle.crt"},
    {"child_failed", "python_exception task_killed segmentation_fault",
     "torch.multiprocessing.spawn.ProcessExitedException: process 0 terminated with signal "
     "SIGABRT"},
    {"nan_loss", "python_exception",
     "ValueError: The training loss became NaN at step 431; stopping."},
    {"peer_lost", "rendezvous_failure nccl_system_error",
     "[rank4]:[E1101 torch/csrc/distributed/c10d/TCPStore.cpp] [c10d] recvValueWithTimeout failed "
     "on SocketImpl(fd=76, addr=[node-2]:51234, remote=[node-1]:29500): Failed to recv, got 0 "
     "bytes. Connection was likely closed. Did the remote server shutdown or crash?"},
    {"host_oom_kill", "task_killed",
     "[rank0]: RuntimeError: [enforce fail at alloc_cpu.cpp:117] err == 0. DefaultCPUAllocator: "
     "can't allocate memory: you tried to allocate 68719476736 bytes. Error code 12 (Cannot "
     "allocate memory)"},
    {"gpu_hardware_error", "cuda_error",
     "RuntimeError: CUDA error: unspecified launch failure\n"
     "kernel: NVRM: Xid (PCI:0000:0a:00): 62, pid='<unknown>', name=<unknown>, 2027(27d0) 8503a000 "
     "00000000"},
}};

}  // namespace llmb::parser
