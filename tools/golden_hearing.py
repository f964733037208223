"""Reference values from PyTorch for what hears: the pyramid, its convolutions, the attention for spelling and CTC.

How to run (outside the tree, a few seconds once PyTorch is there; any CPU will do):

    python3 -m venv VENV
    VENV/bin/pip install torch numpy
    VENV/bin/python tools/golden_hearing.py              # writes tests/golden/hearing.json

As in golden_recurrent.py, everything is drawn from fixed seeds and rounded to f32, and PyTorch computes in f64. Weights
stand in Gatto's layout: those of a convolution as [rows · columns · channels, outputs], a filter over weights as
[width, channels].
"""

import json
import pathlib
import sys

import torch
from torch import nn
from torch.nn.functional import conv1d, conv2d, ctc_loss, log_softmax, relu, softmax, softplus
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from golden_recurrent import MODULES, fill, flat, gradient_of, our_weights, random, value_of

LENGTHS = [11, 4, 7, 1]


def halved(states, lengths):
    """Neighbours as one, with zeros for the one that is missing and behind the end of a row."""
    batch, time, width = states.shape
    exists = torch.arange(time)[None, :] < torch.tensor(lengths)[:, None]
    states = states * exists[:, :, None]
    if time % 2:
        states = torch.cat([states, states.new_zeros(batch, 1, width)], 1)
    return states.reshape(batch, -1, 2 * width), [(length + 1) // 2 for length in lengths]


def pyramid_case(name, cell, layers, halvings, both, seed):
    generator = torch.Generator().manual_seed(seed)
    batch, time, size, width, directions = len(LENGTHS), 11, 3, 2, 1 + both
    modules = []
    for depth in range(layers):
        read = size if depth == 0 else directions * width
        read *= 2 if depth >= layers - halvings else 1
        module = MODULES[cell](read, width, 1, batch_first=True, bidirectional=both).double()
        fill(module, generator)
        modules.append(module)
    x = random(generator, batch, time, size, scale=1.0).requires_grad_()
    states, lengths = x, LENGTHS
    last = []
    for depth, module in enumerate(modules):
        if depth >= layers - halvings:
            states, lengths = halved(states, lengths)
        packed = pack_padded_sequence(states, lengths, batch_first=True, enforce_sorted=False)
        out, final = module(packed)
        states, _ = pad_packed_sequence(out, batch_first=True, total_length=states.shape[1])
        hidden = final[0] if cell == "lstm" else final
        last.append(torch.cat(list(hidden), 1))  # directions side by side
    share = random(generator, *states.shape, scale=1.0)
    share_last = random(generator, *last[-1].shape, scale=1.0)
    ((states * share).sum() + (last[-1] * share_last).sum()).backward()

    def all_weights(pick):
        return [
            [{k: flat(v) for k, v in our_weights(m, 0, d, pick).items()} for d in range(directions)] for m in modules
        ]

    return {
        "name": name,
        "cell": cell,
        "layers": layers,
        "halvings": halvings,
        "bidirectional": both,
        "width": width,
        "lengths": LENGTHS,
        "x": {"shape": list(x.shape), "values": flat(x)},
        "weights": all_weights(value_of),
        "states": {"shape": list(states.shape), "values": flat(states)},
        "state_lengths": lengths,
        "last": [flat(state) for state in last],
        "gradient_of_states": flat(share),
        "gradient_of_last": flat(share_last),
        "gradients": {"x": flat(x.grad), "weights": all_weights(gradient_of)},
    }


def front_case(name, each, bands, channels, seed):
    """Convolutions 4 × 4 that move by two, over time and bands."""
    generator = torch.Generator().manual_seed(seed)
    batch, time = len(LENGTHS), 11
    x = random(generator, batch, time, each * bands, scale=1.0).requires_grad_()
    kernels, before = [], each
    for count in channels:
        weight = random(generator, count, before, 4, 4).requires_grad_()
        kernels.append((weight, random(generator, count).requires_grad_()))
        before = count
    halvings = len(channels)
    whole = -(-time // 2**halvings) * 2**halvings
    places = [-(-length // 2**halvings) for length in LENGTHS]

    def silenced(image, lengths):
        exists = torch.arange(image.shape[2])[None, :] < torch.tensor(lengths)[:, None]
        return image * exists[:, None, :, None]

    frames = torch.cat([x, x.new_zeros(batch, whole - time, each * bands)], 1)
    image = frames.reshape(batch, whole, each, bands).permute(0, 2, 1, 3)  # [B, C, T, F]
    image = silenced(image, LENGTHS)
    for depth, (weight, bias) in enumerate(kernels):
        image = relu(conv2d(image, weight, bias, stride=2, padding=1))
        image = silenced(image, [length << (halvings - 1 - depth) for length in places])
    out = image.permute(0, 2, 3, 1).flatten(2)  # [B, T′, F′ · C]
    share = random(generator, *out.shape, scale=1.0)
    (out * share).sum().backward()

    def laid_out(tensor):
        return flat(tensor.permute(2, 3, 1, 0).reshape(-1, tensor.shape[0]))

    return {
        "name": name,
        "each": each,
        "channels": channels,
        "lengths": LENGTHS,
        "x": {"shape": list(x.shape), "values": flat(x)},
        "weights": [{"weight": laid_out(w), "bias": flat(b)} for w, b in kernels],
        "out": {"shape": list(out.shape), "values": flat(out)},
        "places": places,
        "gradient_of_out": flat(share),
        "gradients": {"x": flat(x.grad), "weights": [{"weight": laid_out(w.grad), "bias": flat(b.grad)} for w, b in kernels]},
    }


def spelling_case(name, trail, advancing, seed):
    """Additive attention, one query after the other, that knows where it has just looked."""
    generator = torch.Generator().manual_seed(seed)
    lengths, positions, steps, query, states_width, width, window = [7, 3], 7, 4, 3, 4, 3, 3
    batch = len(lengths)
    queries = random(generator, batch, steps, query, scale=1.0).requires_grad_()
    states = random(generator, batch, positions, states_width, scale=1.0).requires_grad_()
    mask = (torch.arange(positions)[None, :] < torch.tensor(lengths)[:, None]).double()
    weights = {
        "score.query": random(generator, query, width),
        "score.key": random(generator, states_width, width),
        "score.vector": random(generator, width, scale=1.0),
    }
    if trail:
        weights |= {"trail.filter": random(generator, 3, 2, scale=1.0), "trail.key": random(generator, 2, width)}
    if advancing:
        weights |= {"focus.position": random(generator, query, width), "focus.position_vector": random(generator, width)}
    for weight in weights.values():
        weight.requires_grad_()
    last, aligned = torch.zeros(batch, positions).double(), torch.zeros(batch, 1).double()
    shares, contexts = [], []
    for t in range(steps):
        asked = queries[:, t]
        keys = states @ weights["score.key"]
        if trail:
            kernel = weights["trail.filter"].T[:, None]  # [C, 1, N]
            keys = keys + conv1d(last[:, None], kernel, padding=1).transpose(1, 2) @ weights["trail.key"]
        score = torch.tanh(keys + (asked @ weights["score.query"])[:, None]) @ weights["score.vector"]
        exists = mask
        if advancing:
            told = torch.tanh(asked @ weights["focus.position"]) @ weights["focus.position_vector"]
            most = torch.tensor(lengths).double()[:, None] - 1
            aligned = torch.minimum(aligned + softplus(told)[:, None], most)
            distance = torch.arange(positions).double()[None] - aligned
            score = score - distance**2 / (window**2 / 2)
            exists = mask * (distance.abs() <= window)
        share = softmax(score.masked_fill(exists == 0, -1e30), 1) * exists
        last = share
        shares.append(share)
        contexts.append((share[:, None] @ states)[:, 0])
    context = torch.stack(contexts, 1)
    upon = random(generator, *context.shape, scale=1.0)
    (context * upon).sum().backward()
    shaped = lambda tensor: {"shape": list(tensor.shape), "values": flat(tensor)}
    return {
        "name": name,
        "trail": trail,
        "advancing": advancing,
        "window": window,
        "query": shaped(queries),
        "states": shaped(states),
        "mask": shaped(mask),
        "parameters": {key: flat(value) for key, value in weights.items()},
        "weights": flat(torch.stack(shares, 1)),
        "context": flat(context),
        "gradient_of_context": shaped(upon),
        "gradients": {"query": flat(queries.grad), "states": flat(states.grad)}
        | {key: flat(value.grad) for key, value in weights.items()},
    }


def ctc_case(name, classes, lengths, targets, blank, seed):
    """Rows of different lengths; a target that no path tells has the loss 0."""
    generator = torch.Generator().manual_seed(seed)
    logits = random(generator, len(lengths), max(lengths), classes, scale=2.0).requires_grad_()
    told = log_softmax(logits, 2).transpose(0, 1)
    flat_targets = torch.tensor([label for target in targets for label in target], dtype=torch.long)
    sizes = torch.tensor([len(target) for target in targets])
    losses = ctc_loss(told, flat_targets, torch.tensor(lengths), sizes, blank, reduction="none", zero_infinity=True)
    share = random(generator, len(lengths), scale=1.0)
    (losses * share).sum().backward()
    return {
        "name": name,
        "lengths": lengths,
        "targets": targets,
        "blank": blank,
        "logits": {"shape": list(logits.shape), "values": flat(logits)},
        "losses": flat(losses),
        "gradient_of_losses": flat(share),
        "gradient": flat(logits.grad),
    }


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent / "tests/golden")
    golden = {
        "made_with": f"PyTorch {torch.__version__.split('+')[0]}, tools/golden_hearing.py",
        "pyramids": [
            pyramid_case("lstm, two of three halve", "lstm", 3, 2, True, 1),
            pyramid_case("gru, all halve", "gru", 2, 2, True, 2),
            pyramid_case("rnn, one direction", "rnn", 2, 1, False, 3),
            pyramid_case("lstm, none halves", "lstm", 2, 0, True, 4),
        ],
        "fronts": [
            front_case("two convolutions", 1, 5, [2, 3], 5),
            front_case("one, over frames with deltas", 2, 4, [3], 6),
        ],
        "spelling": [
            spelling_case("a convolution of the last weights", True, False, 7),
            spelling_case("a window that advances", False, True, 8),
            spelling_case("both", True, True, 9),
        ],
        "ctc": [
            ctc_case("short", 4, [6, 3, 2, 5], [[1, 2, 2], [3], [1, 1], []], 0, 10),
            ctc_case("long", 9, [40, 17], [[8, 1, 1, 2, 7, 3, 3, 3, 5, 1], [4, 2, 4, 2]], 6, 11),
        ],
    }
    with open(folder / "hearing.json", "w") as out:
        json.dump(golden, out, indent=None, separators=(",", ":"))
        out.write("\n")


if __name__ == "__main__":
    main()
