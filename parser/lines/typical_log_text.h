// A page of what training logs are full of: the programs' chatter between the step lines. The
// scanner picks as a literal's fingerprint what is rare here. A hint for speed only: results never
// depend on it, and any text would do.
#pragma once

#include <string_view>

namespace llmb::parser {

inline constexpr std::string_view kTypicalLogText =
    R"(node-h100-031:12417:12418 [3] NCCL INFO Bootstrap : Using eth0:10.20.30.41<0>
node-h100-031:12417:12941 [3] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB; OOB bond0
node-h100-031:12417:12941 [3] NCCL INFO Channel 02/0 : 5[5] -> 13[5] [send] via NET/IB/3/GDRDMA
node-h100-031:12417:12941 [3] NCCL INFO Channel 14/1 : 6[6] -> 7[7] via P2P/CUMEM/read
node-h100-031:12417:12941 [3] NCCL INFO Trees [0] 3/-1/-1->2->1 [1] 3/-1/-1->2->1 [2] 3/-1
node-h100-031:12417:12941 [3] NCCL INFO Connected all rings, use ring PXN 1 GDR 1
node-h100-031:12417:12941 [3] NCCL INFO comm 0x55d8f3a0 rank 3 nranks 64 cudaDev 3 busId 9d000
node-h100-031:12417:12417 [3] NCCL INFO AllReduce: opCount 2a sendbuff 0x7f28a4 recvbuff 0x7f28a4
node-h100-031:12417:12417 [3] NCCL INFO ReduceScatter: opCount 1f count 8192 datatype 9 op 0 root 0
[NeMo I 2025-12-22 15:12:07 nemo_logging:393] Rank 0 has data parallel group : [0, 8, 16, 24]
[NeMo I 2025-12-22 15:12:07 megatron_init:396] Rank 0 has tensor model parallel rank: 0
[NeMo I 2025-12-22 15:12:11 megatron_strategy:310] Fixing mis-match between ddp-config config
[NeMo W 2025-12-22 15:12:31 nemo_logging:405] /usr/local/lib/python3.12/dist-packages/torch/x.py:87
    (linear_proj): TERowParallelLinear(in_features=16384, out_features=16384, bias=False, TP=8)
      (input_layernorm): IdentityOp()
    model.decoder.layers.17.self_attention.linear_qkv.weight: shape (5120, 4096), dtype bf16, tp 4
INFO:megatron.core.distributed.param_and_grad_buffer:Params for bucket 1 (405798912 elements):
	module.decoder.layers.11.mlp.experts.linear_fc2.weight
[default0]:2025-12-22 15:18:33,441 - megatron.bridge.data.loaders - INFO - sampled 512 documents
[rank5]:[W1222 15:22:39.087 ProcessGroupNCCL.cpp:5023] Warning: barrier() called without device
/opt/megatron-lm/megatron/core/transformer/attention.py:112: UserWarning: this is deprecated
/usr/lib/python3.12/multiprocessing/resource_tracker.py:254: FutureWarning: please use instead
  warnings.warn("The given value is not used, and will be removed in a future release")
setting number of microbatches to constant 16, using world size: 512, global-batch-size: 2048
 > number of parameters on (tensor, pipeline) model parallel rank (0, 3): 6369083392
[Rank 3] (after 22 iterations) memory (GB) | mem-allocated-gigabytes: 36.95 | mem-max-reserved: 61.2
(min, max) time across ranks (ms): forward-backward: (5517.31, 5519.07)
    optimizer-inner-step ...............................: (21.44, 21.63)
saving checkpoint at iteration     100 to /lustre/fsw/checkpoints/llama31_405b in torch_dist format
  successfully saved checkpoint from iteration 100 to /lustre/fsw/checkpoints
loading distributed checkpoint from /lustre/fsw/checkpoints/llama31_405b at iteration 100
Global Checkpoint Save : Rank: 0 : Iteration: 19 : Start time: 1741387126.512s : Save duration: 0.1s
Validation: iteration 11/32 | reduced_train_loss: 10.22 | lr: 0.0003 | global_step: 11
Epoch 0: :  42%|####2     | 21/50 [03:51<05:19, v_num=, reduced_train_loss=7.110, global_step=20.00]
srun: job 1234567 queued and waiting for resources
srun: launching StepId=1234567.0 on host node-h100-031, 8 tasks: [24-31]
  - timestamp, index, utilization.gpu [%], power.draw [W], 2, 97 %, 686.31 W, P0, Active
export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True CUDA_DEVICE_MAX_CONNECTIONS=1
  recompute_granularity: selective
  sequence_parallel: true
  tensor_model_parallel_size: 4
  virtual_pipeline_model_parallel_size: 8
  distributed_timeout_minutes ..................... 10
  hidden_size ..................................... 16384
Loading extension module: /root/.cache/torch_extensions/py312_cu128/fused_kernels
2025-12-22 15:03:11.120 [info] wandb: Currently logged in as: user; run `wandb login` to change
| Name | Type | Params | Mode | 0 | module | GPTModel | 405 B | train |
AppStatus: State: RUNNING Num Restarts: 0 Roles: Msg: <NONE> Structured Error Msg: <NONE> UI URL:
)";

}  // namespace llmb::parser
