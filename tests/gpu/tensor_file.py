"""Steps in the format of safetensors, as exchange_step writes them, and how much two of them differ. Needs
nothing but Python; PyTorch, where the caller brings its functions, compares large tensors.

Usage: tensor_file.py ONE OTHER LOSS GRADIENT
  ends with 1 where the losses of two files differ by more than LOSS, relatively, or a gradient of one by
  more than GRADIENT of the largest element of the other's
"""
import array
import json
import math
import struct
import sys

CODES = {"F32": "f", "F64": "d", "I32": "i"}


class Step:
    """A file's metadata, and its tensors: flat arrays by name, with their shapes."""

    def __init__(self, path):
        with open(path, "rb") as file:
            (length,) = struct.unpack("<Q", file.read(8))
            header = json.loads(file.read(length))
            data = file.read()
        self.metadata = header.pop("__metadata__")
        self.shapes = {}
        self.values = {}
        for name, tensor in header.items():
            begin, end = tensor["data_offsets"]
            values = array.array(CODES[tensor["dtype"]])
            values.frombytes(data[begin:end])
            if len(values) != math.prod(tensor["shape"]):
                raise ValueError(f"{path}: {name} has {len(values)} elements, not {tensor['shape']}")
            self.shapes[name] = tensor["shape"]
            self.values[name] = values

    @property
    def loss(self):
        return self.values["loss"][0]

    def named(self, kind):
        """Of "weight" or "gradient": the parameters' names."""
        return [name[len(kind) + 1:] for name in self.values if name.startswith(kind + "/")]


def largest_difference(values, expected):
    """The largest difference, relative to the largest expected element; NaN where one is."""
    scale = max(map(abs, expected))
    differences = [abs(a - b) for a, b in zip(values, expected)]
    if any(map(math.isnan, differences)):
        return math.nan
    return max(differences) / scale if scale > 0 else math.inf if max(differences) > 0 else 0.0


def compare(loss, gradients, expected, loss_limit, gradient_limit, difference_of=largest_difference):
    """Prints how far a loss and gradients by name are from a file's; whether they are within the limits."""
    names = expected.named("gradient")
    if sorted(gradients) != sorted(names):
        print(f"the parameters differ: {sorted(set(gradients) ^ set(names))}")
        return False
    loss_difference = abs(loss / expected.loss - 1)
    worst = (0.0, "none")
    for name in names:
        reference = expected.values["gradient/" + name]
        if len(gradients[name]) != len(reference):
            print(f"{name} has {len(gradients[name])} elements, not {len(reference)}")
            return False
        difference = difference_of(gradients[name], reference)
        if not difference <= worst[0]:
            worst = (difference, name)
        if math.isnan(difference):
            break
    print(f"loss_difference {loss_difference:.3e} ({loss:.6f} and {expected.loss:.6f}), at most {loss_limit:g}")
    print(f"gradient_difference {worst[0]:.3e} ({worst[1]}), at most {gradient_limit:g}", flush=True)
    return loss_difference <= loss_limit and worst[0] <= gradient_limit


def main(arguments):
    if len(arguments) != 4:
        print(__doc__, file=sys.stderr)
        return 2
    one, other = Step(arguments[0]), Step(arguments[1])
    gradients = {name: one.values["gradient/" + name] for name in one.named("gradient")}
    return 0 if compare(one.loss, gradients, other, float(arguments[2]), float(arguments[3])) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
