"""Whole training steps of Llama 3.1 8B's shape in PyTorch, with so many layers: torch.compile, scaled
dot-product attention, fp32 weights cast by autocast, fused AdamW, gradients clipped by their norm; one
sequence of 8192 tokens a step, as run_all trains it with llmb-step-runner. Numbers are
pytorch_gradients.py's to compare."""
import sys
import time

import torch
from torch import nn
from torch.nn import functional

LAYERS = int(sys.argv[1])
ROWS, HIDDEN, FFN, HEADS, GROUPS, HEAD_SIZE, VOCABULARY = 8192, 4096, 14336, 32, 8, 128, 128256
STEPS, WARM_UP = 12, 4


def turned(x, cosine, sine):
    first, second = x.chunk(2, dim=-1)
    return torch.cat((first * cosine - second * sine, second * cosine + first * sine), dim=-1)


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.before_attention = nn.RMSNorm(HIDDEN, eps=1e-5)
        self.before_mlp = nn.RMSNorm(HIDDEN, eps=1e-5)
        self.qkv = nn.Linear(HIDDEN, (HEADS + 2 * GROUPS) * HEAD_SIZE, bias=False)
        self.out = nn.Linear(HEADS * HEAD_SIZE, HIDDEN, bias=False)
        self.gate_and_up = nn.Linear(HIDDEN, 2 * FFN, bias=False)
        self.down = nn.Linear(FFN, HIDDEN, bias=False)

    def forward(self, x, cosine, sine):
        qkv = self.qkv(self.before_attention(x)).view(1, ROWS, HEADS + 2 * GROUPS, HEAD_SIZE)
        q, k, v = (part.transpose(1, 2) for part in qkv.split((HEADS, GROUPS, GROUPS), dim=2))
        o = functional.scaled_dot_product_attention(
            turned(q, cosine, sine).to(v.dtype), turned(k, cosine, sine).to(v.dtype), v,
            is_causal=True, enable_gqa=True)
        x = x + self.out(o.transpose(1, 2).reshape(1, ROWS, HEADS * HEAD_SIZE))
        gate, up = self.gate_and_up(self.before_mlp(x)).chunk(2, dim=-1)
        return x + self.down(functional.silu(gate) * up)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, HIDDEN)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.last_norm = nn.RMSNorm(HIDDEN, eps=1e-5)
        self.head = nn.Linear(HIDDEN, VOCABULARY, bias=False)
        angles = torch.arange(ROWS)[:, None] * 5e5 ** (-torch.arange(0, 1, 2 / HEAD_SIZE))
        self.register_buffer("cosine", angles.cos().bfloat16())
        self.register_buffer("sine", angles.sin().bfloat16())

    def forward(self, tokens, targets):
        x = self.embedding(tokens).bfloat16()
        for layer in self.layers:
            x = layer(x, self.cosine, self.sine)
        logits = self.head(self.last_norm(x))
        return functional.cross_entropy(logits.view(ROWS, VOCABULARY).float(), targets.view(ROWS))


torch.manual_seed(1)
with torch.device("cuda"):
    model = Model()
    tokens = torch.randint(VOCABULARY, (1, ROWS + 1))
for parameter in model.parameters():
    if parameter.dim() > 1:
        nn.init.normal_(parameter, std=0.02)
compiled = torch.compile(model)
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, fused=True)


def step():
    with torch.autocast("cuda", dtype=torch.bfloat16):
        loss = compiled(tokens[:, :-1], tokens[:, 1:])
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0, foreach=True)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    return loss


times = []
for number in range(STEPS):
    begin = time.perf_counter()
    loss = step()
    torch.cuda.synchronize()
    times.append(time.perf_counter() - begin)
    print(f"step {number} loss {loss.item():.4f} {times[-1]:.4f} s", flush=True)
times = sorted(times[WARM_UP:])
print(f"pytorch_step_s {times[len(times) // 2]:.4f} of {LAYERS} layers, PyTorch "
      f"{torch.__version__}, {torch.cuda.max_memory_allocated() / 2**30:.1f} GiB")
