"""What PyTorch sustains on this device at the shapes of device_ceilings, in its table's form."""
import time

import torch

ROWS, HIDDEN, QKV, FFN, HEADS, GROUPS, HEAD_SIZE = 8192, 4096, 6144, 14336, 32, 8, 128
SECONDS = 2.0


def measure(name, flops, work):
    work()
    torch.cuda.synchronize()
    times = []
    began = time.monotonic()
    while time.monotonic() - began < SECONDS or len(times) < 3:
        begin = torch.cuda.Event(enable_timing=True)
        end = torch.cuda.Event(enable_timing=True)
        begin.record()
        for _ in range(10):
            work()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) / 10)
    times.sort()
    middle = times[len(times) // 2]
    print(f"{middle:>10.4f} {flops / middle * 1e-9:>9.3f} {'-':>8} {'-':>7} {'-':>7}  {name}",
          flush=True)


def linear(layer, out):
    x = torch.randn(ROWS, HIDDEN, device="cuda", dtype=torch.bfloat16)
    weight = torch.randn(out, HIDDEN, device="cuda", dtype=torch.bfloat16)
    gradient = torch.randn(ROWS, out, device="cuda", dtype=torch.bfloat16)
    flops = 2.0 * ROWS * HIDDEN * out
    shape = f"{ROWS}x{HIDDEN}x{out} bf16 (PyTorch {torch.__version__})"
    measure(f"gemm {layer} forward {shape}", flops, lambda: x @ weight.t())
    measure(f"gemm {layer} backward_input {shape}", flops, lambda: gradient @ weight)
    measure(f"gemm {layer} backward_weight {shape}", flops, lambda: gradient.t() @ x)


def attention():
    def random(heads):
        return torch.randn(1, heads, ROWS, HEAD_SIZE, device="cuda", dtype=torch.bfloat16,
                           requires_grad=True)

    q, k, v = random(HEADS), random(GROUPS), random(GROUPS)

    def forward():
        return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True,
                                                                enable_gqa=True)

    flops = 2.0 * ROWS * ROWS * HEADS * HEAD_SIZE
    shape = f"b 1 heads {HEADS}/{GROUPS} x {HEAD_SIZE} s {ROWS} (PyTorch {torch.__version__})"
    measure(f"attention forward {shape}", flops, forward)
    out = forward()
    gradient = torch.randn_like(out)
    measure(f"attention backward {shape}", 2 * flops,
            lambda: torch.autograd.grad(out, (q, k, v), gradient, retain_graph=True))


linear("qkv", QKV)
linear("ffn", FFN)
attention()
