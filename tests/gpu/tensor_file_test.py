"""tensor_file_test.py PROGRAM FOLDER: what exchange_step writes is a step of the model that
pytorch_gradients.py computes again, and the comparison finds what is wrong. PyTorch is not needed: the
model is computed in plain Python, in double, and gradients are held against differences of its loss."""
import json
import math
import pathlib
import random
import struct
import subprocess
import sys

sys.dont_write_bytecode = True
from tensor_file import CODES, Step, compare

HERE = pathlib.Path(__file__).parent


def linear(rows, weight, width):
    outputs = [weight[at:at + width] for at in range(0, len(weight), width)]
    return [[sum(a * b for a, b in zip(row, out)) for out in outputs] for row in rows]


def softmax(scores):
    exponentials = [math.exp(score - max(scores)) for score in scores]
    return [x / sum(exponentials) for x in exponentials]


class PlainLlama:
    """As pytorch_gradients.Llama, of lists."""

    def __init__(self, step):
        for name in ("layer_count", "hidden_size", "head_count", "group_count", "head_size"):
            setattr(self, name, int(step.metadata[name]))
        self.epsilon = float(step.metadata["norm_epsilon"])
        self.frequencies = step.values["rotary_frequencies"]
        self.weights = {name: list(step.values["weight/" + name]) for name in step.named("weight")}
        length = step.shapes["tokens"][1]
        tokens = step.values["tokens"]
        self.sequences = [tokens[at:at + length] for at in range(0, len(tokens), length)]

    def norm(self, rows, name):
        result = []
        for row in rows:
            scale = 1 / math.sqrt(sum(x * x for x in row) / len(row) + self.epsilon)
            result.append([x * scale * w for x, w in zip(row, self.weights[name])])
        return result

    def turned(self, head, position):
        half = len(head) // 2
        angles = [position * frequency for frequency in self.frequencies]
        return ([head[i] * math.cos(a) - head[i + half] * math.sin(a) for i, a in enumerate(angles)] +
                [head[i + half] * math.cos(a) + head[i] * math.sin(a) for i, a in enumerate(angles)])

    def attention(self, rows, layer):
        size, queries = self.head_size, self.head_count // self.group_count
        qkv = linear(rows, self.weights[layer + ".attention.qkv.weight"], self.hidden_size)
        heads = [[row[at:at + size] for at in range(0, len(row), size)] for row in qkv]
        out = [[] for _ in rows]
        for group in range(self.group_count):
            first = group * (queries + 2)
            keys = [self.turned(row[first + queries], s) for s, row in enumerate(heads)]
            values = [row[first + queries + 1] for row in heads]
            for head in range(first, first + queries):
                for s, row in enumerate(heads):
                    query = self.turned(row[head], s)
                    shares = softmax([sum(a * b for a, b in zip(query, key)) / math.sqrt(size)
                                      for key in keys[:s + 1]])
                    out[s] += [sum(p * v[i] for p, v in zip(shares, values)) for i in range(size)]
        return linear(out, self.weights[layer + ".attention.out.weight"], self.head_count * size)

    def mlp(self, rows, layer):
        fc1 = linear(rows, self.weights[layer + ".mlp.fc1.weight"], self.hidden_size)
        width = len(fc1[0]) // 2
        after = [[g / (1 + math.exp(-g)) * u for g, u in zip(row[:width], row[width:])] for row in fc1]
        return linear(after, self.weights[layer + ".mlp.fc2.weight"], width)

    def loss(self):
        total, count = 0.0, 0
        for tokens in self.sequences:
            table = self.weights["embedding.weight"]
            rows = [table[t * self.hidden_size:(t + 1) * self.hidden_size] for t in tokens[:-1]]
            for index in range(self.layer_count):
                for block, norm in ((self.attention, "input_norm"), (self.mlp, "mlp_norm")):
                    layer = f"layers.{index}"
                    branch = block(self.norm(rows, f"{layer}.{norm}.weight"), layer)
                    rows = [[a + b for a, b in zip(x, y)] for x, y in zip(rows, branch)]
            logits = linear(self.norm(rows, "final_norm.weight"), self.weights["head.weight"],
                            self.hidden_size)
            for row, target in zip(logits, tokens[1:]):
                total -= math.log(softmax(row)[target])
                count += 1
        return total / count


def changed(path, to, name, index, value):
    """A copy of the file with one element of a tensor changed."""
    data = bytearray(path.read_bytes())
    (length,) = struct.unpack("<Q", data[:8])
    tensor = json.loads(data[8:8 + length])[name]
    code = "<" + CODES[tensor["dtype"]]
    struct.pack_into(code, data, 8 + length + tensor["data_offsets"][0] + index * struct.calcsize(code), value)
    to.write_bytes(data)
    return to


def ends_with(status, *words):
    command = [str(word) for word in words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100)
    assert done.returncode == status, f"{command} ended with {done.returncode}:\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr


def main(program, folder):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    files = {}
    for on, precision in (("cpu", "fp32"), ("cuda", "fp32"), ("cuda", "bf16")):
        files[on, precision] = folder / f"{on}_{precision}.safetensors"
        ends_with(0, program, files[on, precision], on, precision, "--tiny")
    cpu = files["cpu", "fp32"]

    # The numbers are those of the model: its loss, and the slope of the loss along every parameter.
    step = Step(cpu)
    model = PlainLlama(step)
    plain = model.loss()
    assert abs(plain / step.loss - 1) < 1e-5, f"loss {step.loss}, in plain Python {plain}"
    draw = random.Random(1)
    for name in step.named("weight"):
        weights, gradient = model.weights[name], step.values["gradient/" + name]
        direction = [draw.choice((-1e-4, 1e-4)) for _ in weights]
        losses = []
        for sign in (1, -1):
            model.weights[name] = [w + sign * d for w, d in zip(weights, direction)]
            losses.append(model.loss())
        model.weights[name] = weights
        slope, expected = (losses[0] - losses[1]) / 2, sum(d * g for d, g in zip(direction, gradient))
        scale = 1e-4 * math.sqrt(sum(g * g for g in gradient))
        assert abs(slope - expected) < 1e-3 * scale, f"{name}: slope {slope}, by the gradient {expected}"

    # The backend's step is the CPU's, and what is wrong is found.
    tool = (sys.executable, HERE / "tensor_file.py")
    ends_with(0, *tool, files["cuda", "fp32"], cpu, 1e-5, 1e-4)
    ends_with(0, *tool, files["cuda", "bf16"], cpu, 1e-2, 5e-2)
    ends_with(1, *tool, files["cuda", "bf16"], cpu, 1e-2, 1e-6)
    wrong = folder / "wrong.safetensors"
    name = "gradient/layers.1.mlp.fc1.weight"
    largest = max(map(abs, step.values[name]))
    said = ends_with(1, *tool, changed(cpu, wrong, name, 7, step.values[name][7] + largest / 10), cpu, 1, 5e-2)
    assert "layers.1.mlp.fc1.weight" in said and "gradient_difference 1.000e-01" in said, said
    said = ends_with(1, *tool, changed(cpu, wrong, name, 7, math.nan), cpu, 1, 5e-2)
    assert "gradient_difference nan" in said, said
    said = ends_with(1, *tool, changed(cpu, wrong, "loss", 0, 1.1 * step.loss), cpu, 5e-2, 1)
    assert "loss_difference 1.000e-01" in said, said
    gradients = {name: step.values["gradient/" + name] for name in step.named("gradient")}
    assert compare(step.loss, gradients, step, 0, 0)
    del gradients["head.weight"]
    assert not compare(step.loss, gradients, step, 1, 1), "a gradient is missing"
    ends_with(2, program, cpu, "tpu", "fp32")
    ends_with(1, program, folder / "no" / "folder", "cpu", "fp32", "--tiny")


if __name__ == "__main__":
    main(*sys.argv[1:])
