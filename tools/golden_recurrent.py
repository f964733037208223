"""Reference values from PyTorch for the recurrent layers, the loss, the optimisers and a whole small model.

How to run (outside the tree, a few seconds once PyTorch is there; any CPU will do):

    python3 -m venv VENV
    VENV/bin/pip install torch numpy
    VENV/bin/python tools/golden_recurrent.py            # writes tests/golden/{recurrent,loss,optimisers,seq2seq}.json

Everything is drawn from fixed seeds and rounded to f32, so that a reader in f32 starts from the very same
numbers; PyTorch then computes in f64, so that the results are exact to the nine digits written.

Every array is flat and row-major. Letters: B batch, T time, I input, H width, E embedding, V vocabulary,
G gates (rnn 1, gru 3, lstm 4). Weights stand in Gatto's layout, x·W rather than W·x:

    w_x  [I, G·H]   w_h [H, G·H]   gates side by side: lstm i,f,g,o; gru r,z,n
    bias rnn [H], lstm [4H]: b_ih + b_hh;  gru [4H]: b_ir+b_hr, b_iz+b_hz, b_in, b_hn
"""

import json
import pathlib
import sys

import numpy as np
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

GATES = {"rnn": 1, "lstm": 4, "gru": 3}
MODULES = {"rnn": nn.RNN, "lstm": nn.LSTM, "gru": nn.GRU}


def random(generator, *shape, scale=0.5):
    """Normal numbers that f32 holds exactly, as f64."""
    return (torch.randn(*shape, generator=generator, dtype=torch.float32) * scale).double()


def fill(module, generator):
    """Random parameters. Biases are multiples of 1/1024, so that the sum of two is exact in f32 too."""
    with torch.no_grad():
        for parameter in module.parameters():
            values = random(generator, *parameter.shape)
            parameter.copy_((values * 1024).round() / 1024 if values.dim() == 1 else values)


def flat(tensor):
    """Flat, nine significant digits: enough to give every f32 back."""
    return [float(f"{value:.9g}") for value in tensor.detach().reshape(-1).tolist()]


# ---------------------------------------------------------------- recurrent layers


def our_weights(module, layer, direction, pick):
    """One direction of one layer in our layout. `pick` takes a parameter to its value or its gradient."""
    suffix = f"l{layer}" + ("_reverse" if direction else "")
    w_ih, w_hh, b_ih, b_hh = (
        pick(getattr(module, f"{name}_{suffix}")) for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    )
    width = module.hidden_size
    value = pick is value_of
    if isinstance(module, nn.GRU):
        # The candidate's two biases cannot be summed: r multiplies the recurrent one only.
        shared = b_ih[: 2 * width] + b_hh[: 2 * width] if value else b_ih[: 2 * width]
        bias = torch.cat([shared, b_ih[2 * width :], b_hh[2 * width :]])
    else:
        # The gradient of a sum is that of either of its terms.
        bias = b_ih + b_hh if value else b_ih
    return {"w_x": w_ih.T, "w_h": w_hh.T, "bias": bias}


def value_of(parameter):
    return parameter.detach()


def gradient_of(parameter):
    return parameter.grad


def reverse_valid(x, lengths):
    """Each row's first `length` steps in reverse; padding stays where it is."""
    rows = [torch.cat([row[:length].flip(0), row[length:]]) for row, length in zip(x, lengths)]
    return torch.stack(rows)


def recurrent_case(name, cell, directions, layers, seed):
    generator = torch.Generator().manual_seed(seed)
    batch, time, size, width, lengths = 3, 5, 4, 3, [5, 3, 1]
    both, lstm = len(directions) == 2, cell == "lstm"
    module = MODULES[cell](size, width, layers, batch_first=True, bidirectional=both).double()
    fill(module, generator)

    # The padding of x is not zero: a reader that lets it in is found out.
    x = random(generator, batch, time, size, scale=1.0).requires_grad_()
    places = layers * len(directions)
    first = lambda: random(generator, places, batch, width) * (1.0 if layers == 1 else 0.0)
    h0 = first().requires_grad_()
    c0 = first().requires_grad_() if lstm else None

    backward = directions == ["backward"]
    read = reverse_valid(x, lengths) if backward else x
    packed = pack_padded_sequence(read, lengths, batch_first=True)
    out, final = module(packed, (h0, c0) if lstm else h0)
    out, _ = pad_packed_sequence(out, batch_first=True, total_length=time)
    out = reverse_valid(out, lengths) if backward else out
    h_final, c_final = final if lstm else (final, None)

    r_out, r_h = random(generator, *out.shape, scale=1.0), random(generator, *h_final.shape, scale=1.0)
    r_c = random(generator, *h_final.shape, scale=1.0) if lstm else None
    loss = (out * r_out).sum() + (h_final * r_h).sum()
    loss = loss + (c_final * r_c).sum() if lstm else loss
    loss.backward()

    def per_layer(states):
        """[layers·directions, B, H] as a list of layers of directions."""
        if states is None:
            return None
        return [[flat(direction) for direction in layer] for layer in states.reshape(layers, -1, batch, width)]

    def all_weights(pick):
        return [
            [
                {key: flat(tensor) for key, tensor in our_weights(module, layer, direction, pick).items()}
                for direction in range(len(directions))
            ]
            for layer in range(layers)
        ]

    case = {
        "name": name,
        "cell": cell,
        "directions": directions,
        "layers": layers,
        "batch": batch,
        "time": time,
        "input": size,
        "width": width,
        "lengths": lengths,
        "x": flat(x),
        "layer_weights": all_weights(value_of),
        "h0": per_layer(h0),
        "c0": per_layer(c0),
        "loss_weights": {"out": flat(r_out), "h": per_layer(r_h), "c": per_layer(r_c)},
        "loss": flat(loss)[0],
        "out": flat(out),
        "h_final": per_layer(h_final),
        "c_final": per_layer(c_final),
        "grad": {
            "x": flat(x.grad),
            "layer_weights": all_weights(gradient_of),
            "h0": per_layer(h0.grad),
            "c0": per_layer(c0.grad if lstm else None),
        },
    }
    check_layout(case)
    return case


def check_layout(case):
    """Computes the outputs once more from what is written, with the equations in our layout."""
    batch, time, width = case["batch"], case["time"], case["width"]
    sigmoid = lambda a: 1 / (1 + np.exp(-a))

    def step(x, h, c, weights):
        w_x, w_h, bias = weights
        a, b = x @ w_x, h @ w_h
        if case["cell"] == "rnn":
            return np.tanh(a + b + bias), c
        if case["cell"] == "lstm":
            i, f, g, o = np.split(a + b + bias, 4)
            c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
            return sigmoid(o) * np.tanh(c), c
        (ar, az, an), (br, bz, bn), (cr, cz, cn, ch) = np.split(a, 3), np.split(b, 3), np.split(bias, 4)
        r, z = sigmoid(ar + br + cr), sigmoid(az + bz + cz)
        n = np.tanh(an + cn + r * (bn + ch))
        return (1 - z) * n + z * h, c

    x = np.array(case["x"]).reshape(batch, time, -1)
    for layer, sides in enumerate(case["layer_weights"]):
        outs = []
        for side, (direction, weights) in enumerate(zip(case["directions"], sides)):
            weights = (
                np.array(weights["w_x"]).reshape(x.shape[2], -1),
                np.array(weights["w_h"]).reshape(width, -1),
                np.array(weights["bias"]),
            )
            out = np.zeros((batch, time, width))
            for row, length in enumerate(case["lengths"]):
                pick = lambda states: np.array(states[layer][side]).reshape(batch, width)[row]
                h, c = pick(case["h0"]), pick(case["c0"]) if case["c0"] else None
                steps = range(length) if direction == "forward" else reversed(range(length))
                for t in steps:
                    h, c = step(x[row, t], h, c, weights)
                    out[row, t] = h
                assert np.allclose(h, pick(case["h_final"]), atol=1e-7), case["name"]
                assert c is None or np.allclose(c, pick(case["c_final"]), atol=1e-7), case["name"]
            outs.append(out)
        x = np.concatenate(outs, axis=2)
    assert np.allclose(x.reshape(-1), case["out"], atol=1e-7), case["name"]


def recurrent():
    shapes = {
        "forward": (["forward"], 1),
        "backward": (["backward"], 1),
        "bidirectional": (["forward", "backward"], 1),
        "two_layers_bidirectional": (["forward", "backward"], 2),
    }
    cases = []
    for cell in GATES:
        for shape, (directions, layers) in shapes.items():
            cases.append(recurrent_case(f"{cell}_{shape}", cell, directions, layers, seed=100 + len(cases)))
    return {"cases": cases}


# ---------------------------------------------------------------- loss


def loss():
    """Label-smoothed cross-entropy: (1 − ε)·(−log p[target]) + ε/V·Σ(−log p). Rows of target 0 may be ignored."""
    generator = torch.Generator().manual_seed(200)
    logits = random(generator, 4, 7, scale=2.0)
    cases = []
    for epsilon in (0.0, 0.1):
        for name, targets, ignore in (("all_rows", [3, 6, 1, 0], None), ("ignored_rows", [3, 0, 1, 0], 0)):
            x = logits.clone().requires_grad_()
            options = {"label_smoothing": epsilon, "ignore_index": -100 if ignore is None else ignore}
            rows = nn.functional.cross_entropy(x, torch.tensor(targets), reduction="none", **options)
            mean = nn.functional.cross_entropy(x, torch.tensor(targets), **options)
            mean.backward()
            cases.append(
                {
                    "name": f"epsilon_{epsilon}_{name}",
                    "epsilon": epsilon,
                    "rows": 4,
                    "classes": 7,
                    "logits": flat(logits),
                    "targets": targets,
                    "ignore": ignore,
                    "losses": flat(rows),
                    "mean": flat(mean)[0],
                    "grad": flat(x.grad),
                }
            )
    return {"cases": cases}


# ---------------------------------------------------------------- optimisers and clipping


def optimisers():
    generator = torch.Generator().manual_seed(300)
    start = random(generator, 6, scale=1.0)
    gradients = [random(generator, 6, scale=1.0) for _ in range(5)]
    adam = {"lr": 0.01, "beta_1": 0.9, "beta_2": 0.999, "epsilon": 1e-8}
    kinds = [
        {"name": "adam", "kind": "adam", **adam, "weight_decay": 0.0},
        {"name": "adamw", "kind": "adamw", **adam, "weight_decay": 0.01},
        {"name": "adam_l2", "kind": "adam", **adam, "weight_decay": 0.01},
        {"name": "sgd", "kind": "sgd", "lr": 0.1, "momentum": 0.0, "nesterov": False},
        {"name": "sgd_momentum", "kind": "sgd", "lr": 0.1, "momentum": 0.9, "nesterov": False},
        {"name": "sgd_nesterov", "kind": "sgd", "lr": 0.1, "momentum": 0.9, "nesterov": True},
        {"name": "sgd_l2", "kind": "sgd", "lr": 0.1, "momentum": 0.9, "nesterov": False, "weight_decay": 0.1},
        {"name": "sgd_dampening", "kind": "sgd", "lr": 0.1, "momentum": 0.9, "nesterov": False, "dampening": 0.2},
    ]
    cases = []
    for kind in kinds:
        parameter = nn.Parameter(start.clone())
        if kind["kind"] == "sgd":
            settings = {key: value for key, value in kind.items() if key not in ("name", "kind")}
            optimiser = torch.optim.SGD([parameter], **settings)
        else:
            optimiser = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[kind["kind"]](
                [parameter],
                lr=kind["lr"],
                betas=(kind["beta_1"], kind["beta_2"]),
                eps=kind["epsilon"],
                weight_decay=kind["weight_decay"],
            )
        after = []
        for gradient in gradients:
            parameter.grad = gradient.clone()
            optimiser.step()
            after.append(flat(parameter))
        cases.append({**kind, "parameters": after})
    return {
        "size": 6,
        "steps": 5,
        "start": flat(start),
        "gradients": [flat(gradient) for gradient in gradients],
        "cases": cases,
        "clipping": clipping(generator),
    }


def clipping(generator):
    """One norm over all tensors; PyTorch scales by max_norm / (norm + 1e-6) if that is below 1."""
    tensors = [random(generator, 6), random(generator, 2, 3)]
    cases = []
    for max_norm in (1.0, 100.0):
        parameters = [nn.Parameter(torch.zeros_like(tensor)) for tensor in tensors]
        for parameter, tensor in zip(parameters, tensors):
            parameter.grad = tensor.clone()
        norm = nn.utils.clip_grad_norm_(parameters, max_norm)
        cases.append(
            {
                "max_norm": max_norm,
                "gradients": [flat(tensor) for tensor in tensors],
                "norm": flat(norm)[0],
                "clipped": [flat(parameter.grad) for parameter in parameters],
            }
        )
    return cases


# ---------------------------------------------------------------- a whole small model

PAD, START, END = 0, 1, 2


class Seq2Seq(nn.Module):
    """GRU encoder, whose last state is the first state of a GRU decoder, and a linear output layer."""

    def __init__(self, generator, source_size, target_size, embedding, width):
        super().__init__()
        self.source_embedding = nn.Embedding(source_size, embedding)
        self.target_embedding = nn.Embedding(target_size, embedding)
        self.encoder = nn.GRU(embedding, width, batch_first=True)
        self.decoder = nn.GRU(embedding, width, batch_first=True)
        self.output = nn.Linear(width, target_size)
        self.double()
        fill(self, generator)
        # Where PyTorch has two biases for one sum, Adam would move the sum twice: only b_ih is trained there.
        only_candidate = torch.cat([torch.zeros(2 * width), torch.ones(width)]).double()
        for module in (self.encoder, self.decoder):
            module.bias_hh_l0.register_hook(lambda gradient: gradient * only_candidate)

    def forward(self, source, source_lengths, target_input):
        embedded = self.source_embedding(source)  # [B, S, E]
        packed = pack_padded_sequence(embedded, source_lengths, batch_first=True, enforce_sorted=False)
        _, last = self.encoder(packed)  # [1, B, H]
        states, _ = self.decoder(self.target_embedding(target_input), last)  # [B, T, H]
        return self.output(states)  # [B, T, V]

    def ours(self, pick):
        cell = lambda module: {k: flat(v) for k, v in our_weights(module, 0, 0, pick).items()}
        return {
            "source_embedding": flat(pick(self.source_embedding.weight)),
            "target_embedding": flat(pick(self.target_embedding.weight)),
            "encoder": cell(self.encoder),
            "decoder": cell(self.decoder),
            "output_weight": flat(pick(self.output.weight).T),
            "output_bias": flat(pick(self.output.bias)),
        }


def padded(rows):
    longest = max(map(len, rows))
    return torch.tensor([row + [PAD] * (longest - len(row)) for row in rows])


def seq2seq():
    source_rows = [[3, 5, 4, 8], [6, 7], [4, 3, 6]]  # not in order of length
    target_rows = [[4, 7, END], [3, 6, 5, 4, END], [5, END]]
    source, target = padded(source_rows), padded(target_rows)
    target_input = padded([[START] + row[:-1] for row in target_rows])
    source_lengths, target_lengths = [len(row) for row in source_rows], [len(row) for row in target_rows]

    model = Seq2Seq(torch.Generator().manual_seed(400), source_size=9, target_size=8, embedding=4, width=5)
    weights = model.ours(value_of)

    def batch_loss():
        logits = model(source, source_lengths, target_input)
        return logits, nn.functional.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=PAD)

    logits, first_loss = batch_loss()
    first_loss.backward()
    gradients = model.ours(gradient_of)

    optimiser = torch.optim.Adam(model.parameters(), lr=0.01, betas=(0.9, 0.999), eps=1e-8)
    losses = []
    for _ in range(10):
        optimiser.zero_grad()
        _, step_loss = batch_loss()
        losses.append(flat(step_loss)[0])
        step_loss.backward()
        optimiser.step()

    return {
        "batch": 3,
        "source_vocabulary": 9,
        "target_vocabulary": 8,
        "embedding": 4,
        "width": 5,
        "source_time": source.shape[1],
        "target_time": target.shape[1],
        "pad": PAD,
        "start": START,
        "end": END,
        "source": source.flatten().tolist(),
        "source_lengths": source_lengths,
        "target_input": target_input.flatten().tolist(),
        "target": target.flatten().tolist(),
        "target_lengths": target_lengths,
        "weights": weights,
        "logits": flat(logits * (target != PAD).unsqueeze(2)),
        "loss": flat(first_loss)[0],
        "grad": gradients,
        "adam": {"lr": 0.01, "beta_1": 0.9, "beta_2": 0.999, "epsilon": 1e-8},
        "losses": losses,
    }


# ---------------------------------------------------------------- writing


def pretty(value, indent=""):
    """JSON with a line per key and per list of numbers, so that differences can be read."""
    deeper = indent + " "
    if isinstance(value, dict):
        items = [f"{deeper}{json.dumps(key)}: {pretty(item, deeper)}" for key, item in value.items()]
        return "{\n" + ",\n".join(items) + f"\n{indent}}}"
    if isinstance(value, list) and any(isinstance(item, (dict, list)) for item in value):
        return "[\n" + ",\n".join(deeper + pretty(item, deeper) for item in value) + f"\n{indent}]"
    return json.dumps(value, allow_nan=False)


def write(*makers):
    """Writes what each maker makes to a file of its name, in tests/golden or the folder given."""
    default = pathlib.Path(__file__).resolve().parent.parent / "tests" / "golden"
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else default
    torch.set_num_threads(1)
    script = pathlib.Path(sys.argv[0]).name
    for make in makers:
        content = {"made_by": f"tools/{script}, PyTorch {torch.__version__}", **make()}
        path = folder / f"{make.__name__}.json"
        path.write_text(pretty(content) + "\n")
        print(f"{path}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    write(recurrent, loss, optimisers, seq2seq)
