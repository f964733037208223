"""Reference values from PyTorch for the Transformer: whole small models, with every kind of position and sharing.

How to run (outside the tree, half a minute once PyTorch is there; any CPU will do):

    python3 -m venv VENV
    VENV/bin/pip install torch numpy
    VENV/bin/python tools/golden_transformer.py          # writes tests/golden/transformer.json

Everything is drawn from fixed seeds and rounded to f32, so that a reader in f32 starts from the very same
numbers; PyTorch then computes in f64, so that the results are exact to the nine digits written. Each case is
then computed three times more: with PyTorch's scaled_dot_product_attention, gradients included; with its
TransformerEncoderLayer and TransformerDecoderLayer, gradients included, unless positions are relative-clipped or
rotary, which those cannot do; and from what is written, one position at a time, without padding and without
PyTorch, with gradients by finite differences. Adam and clipping are done once more by hand on the gradients of
those layers.

Every array is an object {"shape": [...], "values": [...]}, flat and row-major. Letters: B sentences, S places of
the source, T of the target, C width, h heads, d = C/h, F inner width, V vocabulary, P the most learned positions.
Matrices stand as [in, out], y = x W + b.

`weights` holds every parameter once, under its name, for all cases: a name has the same values wherever it occurs.
The keys of a case's `gradients` are the names of the parameters that the case has, and it has no others:

    encoder.embedding.weight [Vs, C], decoder.embedding.weight [Vt, C]
    SIDE.stack.layers.I.attention.{query,key,value,output}.{weight [C, C],bias [C]}
    decoder.stack.layers.I.cross.{query,key,value,output}.{weight [C, C],bias [C]}
    SIDE.stack.layers.I.feed_forward.{inner.{weight [C, F],bias [F]},outer.{weight [F, C],bias [C]}}
    SIDE.stack.layers.I.{attention_norm,cross_norm,feed_forward_norm}.{scale,shift} [C]
    SIDE.stack.norm.{scale,shift} [C]               `norm` pre
    SIDE.stack.positions.weight [P, C]              `positions` learned
    SIDE.stack.positions.bias [buckets, h]          relative
    SIDE.stack.positions.keys [2 clip + 1, d]       relative-clipped
    decoder.output.weight [C, Vt]                   `sharing` none
    decoder.output.bias [Vt]

where SIDE is encoder or decoder. A sublayer f with `norm` post is x ← LN(x + f(x)), with pre x ← x + f(LN(x)) and
LN once more after the last layer; LN has ε = `epsilon`. Attention is softmax(q k / √d) v within each head (head 0
the first d of C), over places that exist, in the decoder none later than the query; then cross-attention to the
encoder's output; then inner, `activation` (relu or the exact gelu), outer. `sharing` output: logits are x Eᵀ + b
with E the decoder's embedding; all: and the source is embedded by it too. Embeddings are multiplied by √C on
reading, not in the output. `positions`, counted from 0, p_i of the query and p_j of the key:

    sinusoidal        P[p, 2i] = sin(p / 10000^(2i/C)), P[p, 2i+1] = cos(the same) is added to embeddings
    learned           row p of `weight` is added to embeddings
    index             p is added to every component of embeddings
    none              nothing
    relative          bias[bucket(p_j − p_i), head] is added to q k / √d; T5's buckets, causal in the decoder
    relative-clipped  q (k + keys[clip(p_j − p_i, −clip, clip) + clip]) / √d
    rotary            components (i, i + d/2) of a head's queries and keys are turned by p · 10000^(−2i/d)

The last three act in self-attention only, and all layers of a side (relative-clipped: all heads too) share their
weights.

The cases are few places long, and see few buckets. `bucket_tables` therefore holds the buckets, as T5 computes
them, of all relative positions p_j − p_i from `first` on.

A case without `source` is a language model: a decoder without cross-attention. `decoder_input` is `target` behind
`start`, without its last. Padding is 0, at the end; logits, memory (the encoder's output) and rows of attention of
places that do not exist are written as zero. `loss` is the mean cross-entropy over places of the target that
exist, `gradients` its gradients; such as are zero but for rounding are written as zero (those of the keys' biases,
unless turned). `attention` has for each kind a list of layers of [B, h, queries, keys]. `training` has the losses
before each of ten steps of Adam on the same batch, and the norms of all gradients before clipping.
"""

import math
import sys

import numpy as np
import torch
from torch import nn
from torch.func import functional_call
from torch.nn import functional

sys.dont_write_bytecode = True  # the import below must leave nothing in the tree
from golden_recurrent import PAD, START, flat, padded, random, write

WIDTH, HEADS, INNER, LAYERS, EPSILON = 8, 2, 12, 2, 1e-5
HEAD = WIDTH // HEADS
SOURCE_VOCABULARY, TARGET_VOCABULARY = 11, 13
MOST_POSITIONS, BUCKETS, DISTANCE, CLIP, BASE = 8, 8, 16, 3, 10000.0
SOURCE_ROWS = [[5, 8, 6, 8, 10], [9, 5, 8], [7, 6]]
TARGET_ROWS = [[6, 12, 9, 6], [8, 11], [5, 10, 7]]
ADAM = {"lr": 0.01, "beta_1": 0.9, "beta_2": 0.999, "epsilon": 1e-8, "clip": 1.0}
STEPS, SEED = 10, 600

SOURCE, TARGET = padded(SOURCE_ROWS), padded(TARGET_ROWS)
INPUT = padded([[START] + row[:-1] for row in TARGET_ROWS])
SOURCE_EXISTS, TARGET_EXISTS = SOURCE != PAD, TARGET != PAD
BATCH = len(SOURCE_ROWS)

# ---------------------------------------------------------------- parameters


def shapes_of_all():
    shapes = {
        "encoder.embedding.weight": [SOURCE_VOCABULARY, WIDTH],
        "decoder.embedding.weight": [TARGET_VOCABULARY, WIDTH],
    }
    for side, attentions in (("encoder", ["attention"]), ("decoder", ["attention", "cross"])):
        shapes |= {
            f"{side}.stack.positions.weight": [MOST_POSITIONS, WIDTH],
            f"{side}.stack.positions.bias": [BUCKETS, HEADS],
            f"{side}.stack.positions.keys": [2 * CLIP + 1, HEAD],
        }
        norms = [f"{side}.stack.norm"]
        for layer in (f"{side}.stack.layers.{at}" for at in range(LAYERS)):
            for attention in attentions:
                for part in ("query", "key", "value", "output"):
                    shapes[f"{layer}.{attention}.{part}.weight"] = [WIDTH, WIDTH]
                    shapes[f"{layer}.{attention}.{part}.bias"] = [WIDTH]
            shapes[f"{layer}.feed_forward.inner.weight"] = [WIDTH, INNER]
            shapes[f"{layer}.feed_forward.inner.bias"] = [INNER]
            shapes[f"{layer}.feed_forward.outer.weight"] = [INNER, WIDTH]
            shapes[f"{layer}.feed_forward.outer.bias"] = [WIDTH]
            norms += [f"{layer}.{part}_norm" for part in (*attentions, "feed_forward")]
        shapes |= {f"{norm}.{part}": [WIDTH] for norm in norms for part in ("scale", "shift")}
    return shapes | {
        "decoder.output.weight": [WIDTH, TARGET_VOCABULARY],
        "decoder.output.bias": [TARGET_VOCABULARY],
    }


def draw_all():
    """Sizes such that no softmax saturates, which would hide gradients."""
    generator = torch.Generator().manual_seed(SEED)
    weights = {}
    for name, shape in shapes_of_all().items():
        if ".embedding." in name or ".positions." in name:
            scale = 0.5
        else:
            scale = 0.35 if len(shape) == 2 else 0.2
        drawn = random(generator, *shape, scale=scale)
        weights[name] = (drawn + 1.0).float().double() if name.endswith(".scale") else drawn
    return weights


def has(case, name):
    """Whether a case has a parameter."""
    if name.startswith("encoder.") or ".cross" in name:
        if case["language_model"] or (name == "encoder.embedding.weight" and case["sharing"] == "all"):
            return False
    if ".positions." in name:
        parts = {"learned": "weight", "relative": "bias", "relative-clipped": "keys"}
        return name.rsplit(".", 1)[1] == parts.get(case["positions"])
    if ".stack.norm." in name:
        return case["norm"] == "pre"
    return name != "decoder.output.weight" or case["sharing"] == "none"


# ---------------------------------------------------------------- positions


def buckets(relative, bidirectional, count, distance):
    """T5's `_relative_position_bucket`, in f32 as there; relative = key − query."""
    first = torch.zeros_like(relative)
    if bidirectional:
        count //= 2
        first = (relative > 0).long() * count
        relative = relative.abs()
    else:
        relative = (-relative).clamp(min=0)
    exact = count // 2
    far = torch.log(relative.float() / exact) / math.log(distance / exact) * (count - exact)
    far = torch.where(relative < exact, 0.0, far)  # log 0 is no whole number
    return first + torch.where(relative < exact, relative, (exact + far.long()).clamp(max=count - 1))


def plain_bucket(relative, bidirectional, count, distance):
    """The same in whole numbers: the most steps whose product of ratios is within the distance."""
    first = 0
    if bidirectional:
        count //= 2
        first = count if relative > 0 else 0
    far = abs(relative) if bidirectional else max(0, -relative)
    exact = count // 2
    if far < exact:
        return first + far
    steps = count - exact  # (distance/exact)^(step/steps) ≤ far/exact
    inside = [step for step in range(steps) if distance**step * exact ** (steps - step) <= far**steps]
    return first + exact + inside[-1]


def bucket_tables():
    tables = []
    for count, distance, most in ((BUCKETS, DISTANCE, 40), (32, 128, 160)):
        for bidirectional in (True, False):
            relative = torch.arange(-most, most + 1)
            values = buckets(relative, bidirectional, count, distance).tolist()
            assert values == [plain_bucket(r, bidirectional, count, distance) for r in relative.tolist()]
            tables.append(
                {
                    "bidirectional": bidirectional,
                    "buckets": count,
                    "distance": distance,
                    "first": -most,
                    "values": values,
                }
            )
    return tables


def relative_positions(queries, keys):
    return torch.arange(keys).unsqueeze(0) - torch.arange(queries).unsqueeze(1)  # [queries, keys]


def bucket_bias(weights, side, queries, keys):
    """[h, queries, keys]."""
    at = buckets(relative_positions(queries, keys), side == "encoder", BUCKETS, DISTANCE)
    return weights[f"{side}.stack.positions.bias"][at].permute(2, 0, 1)


def clipped_keys(weights, side, queries, keys):
    """[queries, keys, d]."""
    at = relative_positions(queries, keys).clamp(-CLIP, CLIP) + CLIP
    return weights[f"{side}.stack.positions.keys"][at]


def embed(case, weights, side, ids):
    table = "decoder" if case["sharing"] == "all" else side
    x = weights[f"{table}.embedding.weight"][ids] * WIDTH**0.5
    positions = torch.arange(ids.shape[1]).double()
    if case["positions"] == "sinusoidal":
        angles = positions.unsqueeze(1) * BASE ** (-torch.arange(0, WIDTH, 2).double() / WIDTH)  # [places, C/2]
        x = x + torch.stack([angles.sin(), angles.cos()], dim=2).flatten(1)
    elif case["positions"] == "learned":
        x = x + weights[f"{side}.stack.positions.weight"][: ids.shape[1]]
    elif case["positions"] == "index":
        x = x + positions.unsqueeze(1)
    return x


# ---------------------------------------------------------------- the model, all places at once


def rotate(x):
    """[B, h, places, d], components (i, i + d/2) turned by place · BASE^(−2i/d)."""
    half = x.shape[3] // 2
    angles = torch.arange(x.shape[2]).double().unsqueeze(1) * BASE ** (-torch.arange(half).double() / half)
    cos, sin = (torch.cat([part, part], dim=1) for part in (angles.cos(), angles.sin()))
    return x * cos + torch.cat([-x[..., half:], x[..., :half]], dim=3) * sin


def attend(case, weights, side, q, k, v, seen):
    """Of each head [B, h, places, d] what it brings, and its weights; side is None in cross-attention."""
    positions = case["positions"] if side else None
    if positions == "rotary":
        q, k = rotate(q), rotate(k)
    scores = q @ k.transpose(2, 3)
    if positions == "relative-clipped":
        relative = clipped_keys(weights, side, q.shape[2], k.shape[2])
        scores = scores + torch.einsum("bhqd,qkd->bhqk", q, relative)
    scores = scores / HEAD**0.5
    if positions == "relative":
        scores = scores + bucket_bias(weights, side, q.shape[2], k.shape[2])
    alpha = torch.softmax(scores.masked_fill(~seen.unsqueeze(1), -torch.inf), dim=3)
    return alpha @ v, alpha


def attend_by_pytorch(case, weights, side, q, k, v, seen):
    """The same by scaled_dot_product_attention; positions turn as complex numbers, or are part of its mask."""
    positions = case["positions"] if side else None
    mask = torch.zeros(BATCH, HEADS, q.shape[2], k.shape[2]).double()
    mask = mask.masked_fill(~seen.unsqueeze(1), -torch.inf)
    if positions == "rotary":
        half = HEAD // 2
        angles = [[p * BASE ** (-2 * i / HEAD) for i in range(half)] for p in range(q.shape[2])]
        turns = torch.exp(1j * torch.tensor(angles, dtype=torch.float64))  # [places, d/2]
        turn = lambda x: torch.complex(x[..., :half], x[..., half:]) * turns
        q, k = (torch.cat([turn(x).real, turn(x).imag], dim=3) for x in (q, k))
    elif positions == "relative-clipped":
        relative = clipped_keys(weights, side, q.shape[2], k.shape[2])
        mask = mask + (q.unsqueeze(3) * relative).sum(4) / HEAD**0.5
    elif positions == "relative":
        mask = mask + bucket_bias(weights, side, q.shape[2], k.shape[2])
    return functional.scaled_dot_product_attention(q, k, v, attn_mask=mask), None


def existing(exists, places):
    return exists.unsqueeze(1).expand(-1, places, -1)  # [B, places, keys]


def stack(case, weights, side, x, exists, memory, attending, looked):
    """The layers of one side. `looked` takes the weights of attention."""
    linear = lambda x, name: x @ weights[f"{name}.weight"] + weights[f"{name}.bias"]

    def norm(x, name):
        return functional.layer_norm(x, [WIDTH], weights[f"{name}.scale"], weights[f"{name}.shift"], EPSILON)

    def sublayer(x, name, work):
        if case["norm"] == "post":
            return norm(x + work(x), f"{name}_norm")
        return x + work(norm(x, f"{name}_norm"))

    def attention(x, others, name, kind, seen):
        heads = lambda x, part: linear(x, f"{name}.{part}").unflatten(2, (HEADS, HEAD)).transpose(1, 2)
        q, k, v = heads(x, "query"), heads(others, "key"), heads(others, "value")
        brought, alpha = attending(case, weights, side if kind != "cross" else None, q, k, v, seen)
        looked[kind].append(alpha)
        return linear(brought.transpose(1, 2).flatten(2), f"{name}.output")

    def feed_forward(x, name):
        inner = linear(x, f"{name}.inner")
        inner = functional.relu(inner) if case["activation"] == "relu" else functional.gelu(inner)
        return linear(inner, f"{name}.outer")

    places = x.shape[1]
    seen = existing(exists, places)
    if side == "decoder":
        seen = seen & (relative_positions(places, places) <= 0)
    for layer in (f"{side}.stack.layers.{at}" for at in range(LAYERS)):
        name = f"{layer}.attention"
        x = sublayer(x, name, lambda x: attention(x, x, name, side, seen))
        if memory is not None:
            name = f"{layer}.cross"
            x = sublayer(x, name, lambda x: attention(x, memory, name, "cross", existing(SOURCE_EXISTS, places)))
        name = f"{layer}.feed_forward"
        x = sublayer(x, name, lambda x: feed_forward(x, name))
    return norm(x, f"{side}.stack.norm") if case["norm"] == "pre" else x


def logits_of(case, weights, x):
    shared = case["sharing"] != "none"
    output = weights["decoder.embedding.weight"].T if shared else weights["decoder.output.weight"]
    return x @ output + weights["decoder.output.bias"]


def loss_of(logits):
    return functional.cross_entropy(logits.flatten(0, 1), TARGET.flatten(), ignore_index=PAD)


def model(case, weights, attending=attend):
    """Logits, memory, and the weights of attention."""
    memory, looked = None, {"encoder": [], "decoder": [], "cross": []}
    if not case["language_model"]:
        x = embed(case, weights, "encoder", SOURCE)
        memory = stack(case, weights, "encoder", x, SOURCE_EXISTS, None, attending, looked)
    x = embed(case, weights, "decoder", INPUT)
    x = stack(case, weights, "decoder", x, TARGET_EXISTS, memory, attending, looked)
    return logits_of(case, weights, x), memory, looked


# ---------------------------------------------------------------- the same of PyTorch's layers


def layers_can(case):
    return case["positions"] not in ("relative-clipped", "rotary")


def layer_parameters(weights, layer, cross):
    """Ours under PyTorch's names; it has W for W·x, and queries, keys and values in one."""
    attentions = {"self_attn": "attention"} | ({"multihead_attn": "cross"} if cross else {})
    theirs = {}
    for their, our in attentions.items():
        parts = [f"{layer}.{our}.{part}" for part in ("query", "key", "value")]
        theirs[f"{their}.in_proj_weight"] = torch.cat([weights[f"{part}.weight"].T for part in parts])
        theirs[f"{their}.in_proj_bias"] = torch.cat([weights[f"{part}.bias"] for part in parts])
        theirs[f"{their}.out_proj.weight"] = weights[f"{layer}.{our}.output.weight"].T
        theirs[f"{their}.out_proj.bias"] = weights[f"{layer}.{our}.output.bias"]
    for their, our in (("linear1", "inner"), ("linear2", "outer")):
        theirs[f"{their}.weight"] = weights[f"{layer}.feed_forward.{our}.weight"].T
        theirs[f"{their}.bias"] = weights[f"{layer}.feed_forward.{our}.bias"]
    for at, our in enumerate((*attentions.values(), "feed_forward")):
        theirs[f"norm{at + 1}.weight"] = weights[f"{layer}.{our}_norm.scale"]
        theirs[f"norm{at + 1}.bias"] = weights[f"{layer}.{our}_norm.shift"]
    return theirs


def model_of_layers(case, weights):
    looked = {"encoder": [], "decoder": [], "cross": []}

    def mask_of(seen, side):
        mask = torch.zeros(BATCH, HEADS, *seen.shape[1:]).double().masked_fill(~seen.unsqueeze(1), -torch.inf)
        if case["positions"] == "relative" and side:
            mask = mask + bucket_bias(weights, side, *seen.shape[1:])
        return mask.flatten(0, 1)

    def watched(attention, kind):
        """Asks nn.MultiheadAttention for its weights, which a layer does not."""
        ask = lambda _, given, named: (given, named | {"need_weights": True, "average_attn_weights": False})
        attention.register_forward_pre_hook(ask, with_kwargs=True)
        attention.register_forward_hook(lambda _, given, brought: looked[kind].append(brought[1]))

    def side_of(side, x, exists, memory):
        kind = nn.TransformerEncoderLayer if memory is None else nn.TransformerDecoderLayer
        places = x.shape[1]
        seen = existing(exists, places)
        if side == "decoder":
            seen = seen & torch.ones(places, places).tril().bool()
        for at in range(LAYERS):
            options = {"activation": case["activation"], "layer_norm_eps": EPSILON, "batch_first": True}
            layer = kind(WIDTH, HEADS, INNER, dropout=0.0, norm_first=case["norm"] == "pre", **options).double()
            watched(layer.self_attn, side)
            theirs = layer_parameters(weights, f"{side}.stack.layers.{at}", memory is not None)
            assert set(theirs) == {name for name, _ in layer.named_parameters()}
            if memory is None:
                x = functional_call(layer, theirs, (x, mask_of(seen, side)))
            else:
                watched(layer.multihead_attn, "cross")
                masks = (mask_of(seen, side), mask_of(existing(SOURCE_EXISTS, places), None))
                x = functional_call(layer, theirs, (x, memory, *masks))
        if case["norm"] == "pre":
            last = nn.LayerNorm(WIDTH, EPSILON).double()
            name = f"{side}.stack.norm"
            x = functional_call(last, {"weight": weights[f"{name}.scale"], "bias": weights[f"{name}.shift"]}, (x,))
        return x

    memory = None
    if not case["language_model"]:
        memory = side_of("encoder", embed(case, weights, "encoder", SOURCE), SOURCE_EXISTS, None)
    x = side_of("decoder", embed(case, weights, "decoder", INPUT), TARGET_EXISTS, memory)
    return logits_of(case, weights, x), memory, looked


# ---------------------------------------------------------------- a case


def array(tensor):
    """Zeros but for rounding are zeros; + 0.0: none is negative."""
    tensor = tensor.detach()
    if tensor.is_floating_point():
        tensor = torch.where(tensor.abs() < 1e-14, 0.0, tensor) + 0.0
        return {"shape": list(tensor.shape), "values": flat(tensor)}
    return {"shape": list(tensor.shape), "values": tensor.flatten().tolist()}


def leaves(case, everything):
    return {name: value.clone().requires_grad_() for name, value in everything.items() if has(case, name)}


def transformer_case(name, everything, norm, positions, *, sharing="none", language_model=False, more=False):
    source_vocabulary = TARGET_VOCABULARY if sharing == "all" else SOURCE_VOCABULARY
    case = {
        "name": name,
        "language_model": language_model,
        "norm": norm,
        "activation": "relu" if norm == "post" else "gelu",
        "positions": positions,
        "sharing": sharing,
        "layers": LAYERS,
        "source_vocabulary": None if language_model else source_vocabulary,
        "target_vocabulary": TARGET_VOCABULARY,
        "source": None if language_model else array(SOURCE),
        "source_lengths": None if language_model else [len(row) for row in SOURCE_ROWS],
        "decoder_input": array(INPUT),
        "target": array(TARGET),
        "target_lengths": [len(row) for row in TARGET_ROWS],
    }
    weights = leaves(case, everything)
    logits, memory, looked = model(case, weights)
    loss = loss_of(logits)
    loss.backward()

    rows = {"encoder": SOURCE_EXISTS, "decoder": TARGET_EXISTS, "cross": TARGET_EXISTS}
    case |= {
        "logits": array(logits * TARGET_EXISTS.unsqueeze(2)),
        "memory": None if memory is None else array(memory * SOURCE_EXISTS.unsqueeze(2)),
        "loss": flat(loss)[0],
        "gradients": {key: array(tensor.grad) for key, tensor in weights.items()},
    }
    if more:
        only = lambda alpha, kind: array(alpha * rows[kind].unsqueeze(1).unsqueeze(3))
        case["attention"] = {kind: [only(alpha, kind) for alpha in layers] for kind, layers in looked.items()}
        case["training"] = training(case, everything)

    found = (logits, memory, looked)
    check_other(case, everything, weights, found, lambda *given: model(*given, attend_by_pytorch))
    if layers_can(case):
        check_other(case, everything, weights, found, model_of_layers)
    check_case(case, everything)
    return case


def training(case, everything):
    weights = leaves(case, everything)
    optimiser = torch.optim.Adam(
        weights.values(), lr=ADAM["lr"], betas=(ADAM["beta_1"], ADAM["beta_2"]), eps=ADAM["epsilon"]
    )
    losses, norms = [], []
    for _ in range(STEPS):
        optimiser.zero_grad()
        loss = loss_of(model(case, weights)[0])
        losses.append(flat(loss)[0])
        loss.backward()
        norms.append(flat(nn.utils.clip_grad_norm_(weights.values(), ADAM["clip"]))[0])
        optimiser.step()
    check_training(case, everything, losses, norms)
    return {**ADAM, "losses": losses, "norms": norms}


# ---------------------------------------------------------------- checks by PyTorch's own parts


def check_other(case, everything, weights, found, other):
    """Another way in PyTorch to the same logits, memory, attention and gradients."""
    again = leaves(case, everything)
    logits, memory, looked = other(case, again)
    loss_of(logits).backward()
    close = lambda a, b: torch.allclose(a, b, rtol=1e-10, atol=1e-12)
    assert close(logits[TARGET_EXISTS], found[0][TARGET_EXISTS]), case["name"]
    assert memory is None or close(memory[SOURCE_EXISTS], found[1][SOURCE_EXISTS]), case["name"]
    for kind, layers in found[2].items():
        for alpha, same in zip(layers, looked[kind], strict=True):
            assert same is None or close(alpha, same), (case["name"], kind)
    for name, weight in weights.items():
        assert close(weight.grad, again[name].grad), (case["name"], name)


def check_training(case, everything, losses, norms):
    """Adam and clipping by hand, with the gradients of PyTorch's layers."""
    values = {name: value.numpy().copy() for name, value in everything.items() if has(case, name)}
    first, second = ({name: np.zeros_like(value) for name, value in values.items()} for _ in range(2))
    for step in range(1, STEPS + 1):
        weights = {name: torch.tensor(value, requires_grad=True) for name, value in values.items()}
        loss = loss_of(model_of_layers(case, weights)[0])
        loss.backward()
        assert np.isclose(loss.item(), losses[step - 1], rtol=1e-8), (case["name"], step)
        gradients = {name: weight.grad.numpy() for name, weight in weights.items()}
        norm = math.sqrt(sum((gradient**2).sum() for gradient in gradients.values()))
        assert np.isclose(norm, norms[step - 1], rtol=1e-7), (case["name"], step)
        for name, gradient in gradients.items():
            gradient = gradient * min(1.0, ADAM["clip"] / (norm + 1e-6))
            for moment, power, beta in ((first, 1, ADAM["beta_1"]), (second, 2, ADAM["beta_2"])):
                moment[name] = beta * moment[name] + (1 - beta) * gradient**power
            mean = first[name] / (1 - ADAM["beta_1"] ** step)
            spread = np.sqrt(second[name] / (1 - ADAM["beta_2"] ** step))
            values[name] -= ADAM["lr"] * mean / (spread + ADAM["epsilon"])
    assert max(norms) > ADAM["clip"] and losses[-1] < losses[0], (case["name"], norms, losses)


# ---------------------------------------------------------------- the same once more, one place at a time


class Plain:
    """One sentence after the other, without padding, by the equations at the head of this file."""

    def __init__(self, case, given):
        self.case, self.given = case, given
        self.nearest = math.inf  # of what relu takes, the nearest to its kink
        self.looked = []

    def linear(self, x, name):
        return x @ self.given[f"{name}.weight"] + self.given[f"{name}.bias"]

    def norm(self, x, name):
        x = x - sum(x) / WIDTH
        return x / math.sqrt(x @ x / WIDTH + EPSILON) * self.given[f"{name}.scale"] + self.given[f"{name}.shift"]

    def embed(self, side, token, p):
        table = "decoder" if self.case["sharing"] == "all" else side
        x = self.given[f"{table}.embedding.weight"][token] * math.sqrt(WIDTH)
        if self.case["positions"] == "sinusoidal":
            angle = lambda c: p / 10000 ** (2 * (c // 2) / WIDTH)
            return x + [math.cos(angle(c)) if c % 2 else math.sin(angle(c)) for c in range(WIDTH)]
        if self.case["positions"] == "learned":
            return x + self.given[f"{side}.stack.positions.weight"][p]
        return x + p if self.case["positions"] == "index" else x

    def turned(self, x, p):
        x = x.copy()
        for i in range(HEAD // 2):
            angle = p * 10000 ** (-2 * i / HEAD)
            cos, sin = math.cos(angle), math.sin(angle)
            a, b = x[i], x[i + HEAD // 2]
            x[i], x[i + HEAD // 2] = a * cos - b * sin, a * sin + b * cos
        return x

    def score(self, side, head, q, k, p_i, p_j):
        positions = self.case["positions"] if side else None
        if positions == "rotary":
            return self.turned(q, p_i) @ self.turned(k, p_j) / math.sqrt(HEAD)
        if positions == "relative-clipped":
            k = k + self.given[f"{side}.stack.positions.keys"][max(-CLIP, min(CLIP, p_j - p_i)) + CLIP]
        score = q @ k / math.sqrt(HEAD)
        if positions == "relative":
            bucket = plain_bucket(p_j - p_i, side == "encoder", BUCKETS, DISTANCE)
            score += self.given[f"{side}.stack.positions.bias"][bucket, head]
        return score

    def attention(self, xs, others, name, side, causal):
        k, v = ([self.linear(x, f"{name}.{part}") for x in others] for part in ("key", "value"))
        outs, looked = [], np.zeros((HEADS, len(xs), len(others)))
        for i, x in enumerate(xs):
            q, out = self.linear(x, f"{name}.query"), np.zeros(WIDTH)
            for head in range(HEADS):
                part = slice(head * HEAD, (head + 1) * HEAD)
                seen = range(i + 1 if causal else len(others))
                powers = [math.exp(self.score(side, head, q[part], k[j][part], i, j)) for j in seen]
                for j in seen:
                    looked[head, i, j] = powers[j] / sum(powers)
                    out[part] += looked[head, i, j] * v[j][part]
            outs.append(self.linear(out, f"{name}.output"))
        self.looked.append((name, looked))
        return outs

    def feed_forward(self, x, name):
        inner = self.linear(x, f"{name}.inner")
        if self.case["activation"] == "relu":
            self.nearest = min(self.nearest, min(abs(inner)))
            inner = np.maximum(inner, 0)
        else:
            inner = np.array([a / 2 * (1 + math.erf(a / math.sqrt(2))) for a in inner])
        return self.linear(inner, f"{name}.outer")

    def sublayer(self, xs, name, work):
        post = self.case["norm"] == "post"
        worked = work(xs if post else [self.norm(x, f"{name}_norm") for x in xs])
        xs = [x + more for x, more in zip(xs, worked, strict=True)]
        return [self.norm(x, f"{name}_norm") for x in xs] if post else xs

    def stack(self, side, tokens, memory):
        xs = [self.embed(side, token, p) for p, token in enumerate(tokens)]
        for layer in (f"{side}.stack.layers.{at}" for at in range(LAYERS)):
            own, cross, feed = (f"{layer}.{part}" for part in ("attention", "cross", "feed_forward"))
            xs = self.sublayer(xs, own, lambda xs: self.attention(xs, xs, own, side, side == "decoder"))
            if memory:
                xs = self.sublayer(xs, cross, lambda xs: self.attention(xs, memory, cross, None, False))
            xs = self.sublayer(xs, feed, lambda xs: [self.feed_forward(x, feed) for x in xs])
        return [self.norm(x, f"{side}.stack.norm") for x in xs] if self.case["norm"] == "pre" else xs

    def run(self):
        """The loss, and for each sentence logits and memory."""
        loss, sentences = 0.0, []
        for source, target in zip(SOURCE_ROWS, TARGET_ROWS, strict=True):
            memory = None if self.case["language_model"] else self.stack("encoder", source, None)
            logits = []
            for x, token in zip(self.stack("decoder", [START] + target[:-1], memory), target, strict=True):
                shared = self.case["sharing"] != "none"
                name = "decoder.embedding.weight" if shared else "decoder.output.weight"
                output = self.given[name].T if shared else self.given[name]
                logits.append(x @ output + self.given["decoder.output.bias"])
                loss += math.log(sum(np.exp(logits[-1]))) - logits[-1][token]
            sentences.append((logits, memory))
        return loss / sum(map(len, TARGET_ROWS)), sentences


def check_case(case, everything):
    """Computes outputs once more from what is written, and gradients by finite differences."""
    read = lambda entry: np.array(entry["values"]).reshape(entry["shape"])
    given = {name: read(array(value)) for name, value in everything.items() if has(case, name)}
    name, plain = case["name"], Plain(case, given)
    loss, sentences = plain.run()
    assert np.isclose(loss, case["loss"], atol=1e-7), name
    # f32 must see the same side of relu's kink everywhere.
    assert plain.nearest > 1e-4, (name, plain.nearest)
    for part, of in (("logits", 0), ("memory", 1)):
        if case[part]:
            expected = np.zeros(case[part]["shape"])
            for row, sentence in enumerate(sentences):
                expected[row, : len(sentence[of])] = sentence[of]
            assert np.allclose(expected, read(case[part]), atol=1e-7), (name, part)
    check_attention(case, plain, read)

    # Each gradient along two random directions, in which every number has a part, and at two places alone.
    rng, step = np.random.default_rng(SEED), 1e-6
    for key, entry in case["gradients"].items():
        gradient, value = read(entry), given[key]
        directions = [rng.standard_normal(value.shape) for _ in range(2)]
        for _ in range(2):
            directions.append(np.zeros(value.shape))
            directions[-1].flat[rng.integers(value.size)] = 1.0
        for direction in directions:
            losses = []
            for moved in (value + step * direction, value - step * direction):
                losses.append(Plain(case, {**given, key: moved}).run()[0])
            slope = (losses[0] - losses[1]) / (2 * step)
            expected = (gradient * direction).sum()
            assert np.isclose(slope, expected, rtol=1e-5, atol=1e-7), (name, key, slope, expected)
        # The same added to all scores of a query changes nothing, so a bias of keys does only if it is turned.
        silent = key.endswith(".key.bias") and (".cross." in key or case["positions"] != "rotary")
        assert gradient.any() != silent, (name, key)


def check_attention(case, plain, read):
    if "attention" not in case:
        return
    expected = {kind: [np.zeros(entry["shape"]) for entry in case["attention"][kind]] for kind in case["attention"]}
    rows = {}
    for name, looked in plain.looked:
        side, _, _, layer, part = name.split(".")
        row = rows[name] = rows.get(name, -1) + 1
        _, queries, keys = looked.shape
        expected["cross" if part == "cross" else side][int(layer)][row, :, :queries, :keys] = looked
    for kind, layers in expected.items():
        for alpha, entry in zip(layers, case["attention"][kind], strict=True):
            written = read(entry)
            assert np.allclose(alpha, written, atol=1e-7), (case["name"], kind)
            assert np.array_equal(alpha == 0, written == 0), (case["name"], kind)


# ---------------------------------------------------------------- writing


def transformer():
    everything = draw_all()
    kinds = [
        ("post-sinusoidal", "post", "sinusoidal", {"more": True}),
        ("pre-sinusoidal-output-tied", "pre", "sinusoidal", {"sharing": "output", "more": True}),
        ("post-learned-all-tied", "post", "learned", {"sharing": "all"}),
        ("pre-relative", "pre", "relative", {}),
        ("post-relative-clipped", "post", "relative-clipped", {}),
        ("pre-rotary", "pre", "rotary", {}),
        ("post-index", "post", "index", {}),
        ("post-none", "post", "none", {}),
        ("language-model", "pre", "learned", {"sharing": "output", "language_model": True}),
    ]
    return {
        "batch": BATCH,
        "width": WIDTH,
        "heads": HEADS,
        "inner": INNER,
        "epsilon": EPSILON,
        "most_positions": MOST_POSITIONS,
        "buckets": BUCKETS,
        "distance": DISTANCE,
        "clip": CLIP,
        "pad": PAD,
        "start": START,
        "bucket_tables": bucket_tables(),
        "weights": {name: array(value) for name, value in everything.items()},
        "cases": [
            transformer_case(name, everything, norm, positions, **options)
            for name, norm, positions, options in kinds
        ],
    }


if __name__ == "__main__":
    write(transformer)
