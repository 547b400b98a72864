"""The loss and every gradient of a step that exchange_step wrote, computed by PyTorch from the same
weights and tokens, and how far the file's are from them.

Usage: pytorch_gradients.py FILE [DEVICE]   DEVICE: cuda (default) or cpu
"""
import contextlib
import sys

import torch
from torch.nn import functional

sys.dont_write_bytecode = True  # this folder may be read-only, and is no place for it
from tensor_file import Step, compare

# Of loss and gradients: what the runner's own backends may differ by.
LIMITS = {"fp32": (1e-4, 1e-3), "bf16": (1e-2, 5e-2)}


TYPES = {"f": torch.float32, "d": torch.float64, "i": torch.int32}


def tensor(values):
    return torch.frombuffer(values, dtype=TYPES[values.typecode])


def largest_difference(values, expected):
    """tensor_file's, of a tensor and an array."""
    reference = tensor(expected).double()
    return ((values.double() - reference).abs().max() / reference.abs().max()).item()


def turned(x, cosine, sine):
    first, second = x.chunk(2, dim=-1)
    return torch.cat((first * cosine - second * sine, second * cosine + first * sine), dim=-1)


class Llama:
    """The order of operations of runner/model: query heads, key and value of each group side by side."""

    def __init__(self, step, device):
        number = {name: int(step.metadata[name])
                  for name in ("layer_count", "hidden_size", "head_count", "group_count", "head_size")}
        self.layers, self.hidden = number["layer_count"], number["hidden_size"]
        self.heads, self.groups = number["head_count"], number["group_count"]
        self.head_size = number["head_size"]
        self.epsilon = float(step.metadata["norm_epsilon"])
        self.is_narrow = step.metadata["precision"] == "bf16"
        self.weights = {
            name: tensor(step.values["weight/" + name]).view(step.shapes["weight/" + name])
            .to(device, copy=True).requires_grad_() for name in step.named("weight")}
        self.tokens = tensor(step.values["tokens"]).view(step.shapes["tokens"]).to(device).long()
        positions = torch.arange(self.tokens.shape[1] - 1, dtype=torch.float64)
        angles = positions[:, None] * tensor(step.values["rotary_frequencies"])
        self.cosine, self.sine = (turn(angles).float().to(device) for turn in (torch.cos, torch.sin))

    def norm(self, x, name):
        return functional.rms_norm(x.float(), (self.hidden,), self.weights[name], self.epsilon)

    # Gate and up of a gated MLP are two matrices in one tensor: rows below each other.
    def linear(self, x, name):
        return functional.linear(x, self.weights[name].flatten(0, -2))

    def attention(self, x, layer):
        batch, length, _ = x.shape
        qkv = self.linear(x, f"{layer}.attention.qkv.weight").view(
            batch, length, self.groups, self.heads // self.groups + 2, self.head_size)
        q = qkv[:, :, :, :-2].reshape(batch, length, self.heads, self.head_size).transpose(1, 2)
        k, v = (qkv[:, :, :, part].transpose(1, 2) for part in (-2, -1))
        q, k = (turned(part.float(), self.cosine, self.sine).to(v.dtype) for part in (q, k))
        o = functional.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        return self.linear(o.transpose(1, 2).reshape(batch, length, -1), f"{layer}.attention.out.weight")

    def mlp(self, x, layer):
        gate, up = self.linear(x, f"{layer}.mlp.fc1.weight").chunk(2, dim=-1)
        return self.linear(functional.silu(gate) * up, f"{layer}.mlp.fc2.weight")

    def loss(self):
        x = functional.embedding(self.tokens[:, :-1], self.weights["embedding.weight"])
        if self.is_narrow:
            x = x.bfloat16()
        for index in range(self.layers):
            layer = f"layers.{index}"
            x = x + self.attention(self.norm(x, f"{layer}.input_norm.weight"), layer)
            x = x + self.mlp(self.norm(x, f"{layer}.mlp_norm.weight"), layer)
        logits = self.linear(self.norm(x, "final_norm.weight"), "head.weight")
        return functional.cross_entropy(logits.float().flatten(0, 1), self.tokens[:, 1:].flatten())


def main(arguments):
    if not 1 <= len(arguments) <= 2:
        print(__doc__, file=sys.stderr)
        return 2
    step, device = Step(arguments[0]), (arguments + ["cuda"])[1]
    precision = step.metadata["precision"]
    torch.backends.cuda.matmul.allow_tf32 = False
    model = Llama(step, device)
    narrow = torch.autocast(device, dtype=torch.bfloat16)
    with narrow if model.is_narrow else contextlib.nullcontext():
        loss = model.loss()
    loss.backward()
    gradients = {name: weight.grad.cpu().reshape(-1) for name, weight in model.weights.items()}
    print(f"PyTorch {torch.__version__} on {device}, {precision}")
    limits = LIMITS[precision]
    return 0 if compare(loss.item(), gradients, step, *limits, largest_difference) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
