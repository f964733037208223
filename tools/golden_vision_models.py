"""Reference values from PyTorch for whole small models of images: a Vision Transformer that tells labels, and a
convolutional network whose regions an LSTM looks at while it writes captions.

How to run (outside the tree, half a minute once PyTorch is there; any CPU will do):

    python3 -m venv VENV
    VENV/bin/pip install torch numpy
    VENV/bin/python tools/golden_vision_models.py        # writes tests/golden/vision_models.json

Everything is drawn from fixed seeds and rounded to f32, so that a reader in f32 starts from the very same
numbers; PyTorch then computes in f64, so that the results are exact to the nine digits written. Each model is
then computed once more in another way: the Vision Transformer by a convolution over patches and PyTorch's
TransformerEncoderLayer, the caption model from what is written, pixel by pixel and without PyTorch, with gradients
by finite differences along random directions.

Every array is an object {"shape": [...], "values": [...]}, flat and row-major. Letters: B images, H rows, W columns,
K channels of a pixel, P pixels of a patch on a side, N patches or regions, row by row, C width, h heads, F inner
width, T places of the target, E width of a token's vector, A width of attention, V vocabulary, L labels. `images` is
[B, H, W, K], and `image_gradients` the gradients of the loss in them. Matrices stand as [in, out], y = x W + b.
`weights` and `gradients` have the same names, which are those of the model's parameters.

`vit`: a patch is the P·P·K values of its pixels, row by row. x_i = patch_i projection + positions_i; the class token
`encoder.class` [1, C] stands before them, without a position. Layers are x ← x + attention(LN x), x ← x + f(LN x)
with f = outer(gelu(inner)), the exact gelu, and LN once more behind the last; LN has ε = `epsilon`. The state of the
class token through `head.output` is `logits` [B, L]; `loss` is the mean cross-entropy with `labels`. `states`
[B, N, C] are those of the patches, and `attention` has for each layer [B, h, N + 1, N + 1].

`caption`: the image has half a region of zeros above it and to its left (a region has 4 pixels on a side), and of the last
map the first row and the first column, which stand over them, are left out. `encoder.network` is a 3 × 3 convolution
with stride `stem_stride` (padding 1, zeros), group norm, relu; then for each stage a block
relu(GN(f₂ * relu(GN(f₁ * x))) + s(x)), of which the second and all behind it have stride 2 in f₁ and in s, the group
norm of a 1 × 1 convolution; s of the first is x. The weight of a convolution is [rows·columns·in, out] of its window.
What is left of the last map and `encoder.positions` are `states` [B, N, C]. The LSTM starts from
h = tanh(m bridge.hidden), c = m bridge.cell with m the mean state. A step reads the vector e of the token before:

    α_i = softmax_i(v · tanh(h query + states_i key)), context = σ(h gate) Σ α_i states_i
    h, c ← LSTM([e; context], (h, c)), gates i, f, g, o side by side
    u = tanh([context; h] meeting + e words), logits = u output

where h before the step asks. `decoder_input` is `target` behind the token that starts. Logits and attention [B, T, N] of
places that do not exist are written as zero; `loss` is the mean cross-entropy over those that do. `even` has the
gradients of loss + `cost` / tokens · Σ_bi (1 − Σ_t α_bti)², over all images and regions.
"""

import math
import sys

import numpy as np
import torch
from torch import nn
from torch.func import functional_call
from torch.nn import functional

sys.dont_write_bytecode = True  # the import below must leave nothing in the tree
from golden_recurrent import END, PAD, START, padded, random, write
from golden_transformer import array

BATCH, HEIGHT, WIDTH, CHANNELS, EPSILON = 3, 8, 12, 3, 1e-5
PATCH, VIT_WIDTH, HEADS, INNER, LAYERS, LABELS = 4, 8, 2, 12, 2, 5
STAGES, GROUPS, STEM_STRIDE = [4, 6], 2, 2
STATE, EMBEDDING, ATTENTION, VOCABULARY, COST = 5, 3, 4, 11, 0.7
SIDE = 4  # pixels of a region, of both models
REGIONS = (HEIGHT // SIDE) * (WIDTH // SIDE)
TARGET_ROWS = [[6, 9, 5, END], [8, END], [5, 10, END]]
ANSWERS = [3, 0, 4]
SEED = 900

TARGET, INPUT = padded(TARGET_ROWS), padded([[START] + row[:-1] for row in TARGET_ROWS])
EXISTS = TARGET != PAD
TOKENS = int(EXISTS.sum())


def draw(shapes, generator):
    """Sizes such that no softmax saturates, which would hide gradients."""
    weights = {}
    for name, shape in shapes.items():
        scale = 0.35 if len(shape) == 2 else 0.2
        if ".network." in name and len(shape) == 2 and "decoder" not in name:
            scale = 1.4 / math.sqrt(shape[0])
        drawn = random(generator, *shape, scale=scale)
        weights[name] = (drawn + 1.0).float().double() if name.endswith(".scale") else drawn
    return weights


def leaves(weights):
    return {name: value.clone().requires_grad_() for name, value in weights.items()}


def linear(weights, name, x):
    return x @ weights[f"{name}.weight"] + weights[f"{name}.bias"]


# ---------------------------------------------------------------- the Vision Transformer


def vit_shapes():
    shapes = {
        "encoder.class": [1, VIT_WIDTH],
        "encoder.positions.weight": [REGIONS, VIT_WIDTH],
        "encoder.projection.weight": [PATCH * PATCH * CHANNELS, VIT_WIDTH],
        "encoder.projection.bias": [VIT_WIDTH],
        "head.output.weight": [VIT_WIDTH, LABELS],
        "head.output.bias": [LABELS],
    }
    norms = ["encoder.stack.norm"]
    for layer in (f"encoder.stack.layers.{at}" for at in range(LAYERS)):
        for part in ("query", "key", "value", "output"):
            shapes[f"{layer}.attention.{part}.weight"] = [VIT_WIDTH, VIT_WIDTH]
            shapes[f"{layer}.attention.{part}.bias"] = [VIT_WIDTH]
        shapes[f"{layer}.feed_forward.inner.weight"] = [VIT_WIDTH, INNER]
        shapes[f"{layer}.feed_forward.inner.bias"] = [INNER]
        shapes[f"{layer}.feed_forward.outer.weight"] = [INNER, VIT_WIDTH]
        shapes[f"{layer}.feed_forward.outer.bias"] = [VIT_WIDTH]
        norms += [f"{layer}.attention_norm", f"{layer}.feed_forward_norm"]
    return shapes | {f"{norm}.{part}": [VIT_WIDTH] for norm in norms for part in ("scale", "shift")}


def norm(weights, name, x):
    return functional.layer_norm(x, [x.shape[-1]], weights[f"{name}.scale"], weights[f"{name}.shift"], EPSILON)


def behind_class(weights, placed):
    return torch.cat([weights["encoder.class"].expand(BATCH, 1, -1), placed], dim=1)


def told(weights, x):
    """Logits and the states of the patches, behind the last layer."""
    x = norm(weights, "encoder.stack.norm", x)
    return linear(weights, "head.output", x[:, 0]), x[:, 1:]


def vit(weights, images):
    rows, columns = HEIGHT // PATCH, WIDTH // PATCH
    patches = images.reshape(BATCH, rows, PATCH, columns, PATCH, CHANNELS).transpose(2, 3)
    patches = patches.reshape(BATCH, rows * columns, PATCH * PATCH * CHANNELS)
    placed = linear(weights, "encoder.projection", patches) + weights["encoder.positions.weight"]
    x, looked = behind_class(weights, placed), []
    for layer in (f"encoder.stack.layers.{at}" for at in range(LAYERS)):
        normed = norm(weights, f"{layer}.attention_norm", x)
        mapped = lambda part: linear(weights, f"{layer}.attention.{part}", normed)
        heads = lambda part: mapped(part).unflatten(2, (HEADS, -1)).transpose(1, 2)
        scores = heads("query") @ heads("key").transpose(2, 3) / math.sqrt(VIT_WIDTH / HEADS)
        looked.append(torch.softmax(scores, dim=3))
        seen = (looked[-1] @ heads("value")).transpose(1, 2).flatten(2)
        x = x + linear(weights, f"{layer}.attention.output", seen)
        normed = norm(weights, f"{layer}.feed_forward_norm", x)
        inner = functional.gelu(linear(weights, f"{layer}.feed_forward.inner", normed))
        x = x + linear(weights, f"{layer}.feed_forward.outer", inner)
    return *told(weights, x), looked


def vit_of_layers(weights, images):
    """Patches by a convolution whose window is its stride, layers as PyTorch has them."""
    kernel = weights["encoder.projection.weight"].reshape(PATCH, PATCH, CHANNELS, VIT_WIDTH).permute(3, 2, 0, 1)
    map = functional.conv2d(images.permute(0, 3, 1, 2), kernel, weights["encoder.projection.bias"], stride=PATCH)
    x = behind_class(weights, map.flatten(2).transpose(1, 2) + weights["encoder.positions.weight"])
    for layer in (f"encoder.stack.layers.{at}" for at in range(LAYERS)):
        parts = [f"{layer}.attention.{part}" for part in ("query", "key", "value")]
        theirs = {
            "self_attn.in_proj_weight": torch.cat([weights[f"{part}.weight"].T for part in parts]),
            "self_attn.in_proj_bias": torch.cat([weights[f"{part}.bias"] for part in parts]),
        }
        for their, our in (
            ("self_attn.out_proj", "attention.output"),
            ("linear1", "feed_forward.inner"),
            ("linear2", "feed_forward.outer"),
        ):
            theirs[f"{their}.weight"] = weights[f"{layer}.{our}.weight"].T
            theirs[f"{their}.bias"] = weights[f"{layer}.{our}.bias"]
        for their, our in (("norm1", "attention_norm"), ("norm2", "feed_forward_norm")):
            theirs[f"{their}.weight"] = weights[f"{layer}.{our}.scale"]
            theirs[f"{their}.bias"] = weights[f"{layer}.{our}.shift"]
        options = {"activation": "gelu", "layer_norm_eps": EPSILON, "batch_first": True, "norm_first": True}
        module = nn.TransformerEncoderLayer(VIT_WIDTH, HEADS, INNER, dropout=0.0, **options).double()
        x = functional_call(module, theirs, (x,))
    return told(weights, x)


def vit_case(generator):
    weights = draw(vit_shapes(), generator)
    images = random(generator, BATCH, HEIGHT, WIDTH, CHANNELS, scale=1.0)

    def learnt(model):
        own, seen = leaves(weights), images.clone().requires_grad_()
        found = model(own, seen)
        loss = functional.cross_entropy(found[0], torch.tensor(ANSWERS))
        loss.backward()
        return found, loss, {name: value.grad for name, value in own.items()}, seen.grad

    (logits, states, looked), loss, gradients, pixels = learnt(vit)
    (logits_again, states_again), loss_again, gradients_again, pixels_again = learnt(vit_of_layers)
    pairs = [(logits, logits_again), (states, states_again), (loss, loss_again), (pixels, pixels_again)]
    pairs += [(gradients[name], gradients_again[name]) for name in gradients]
    assert all(torch.allclose(a, b, rtol=1e-10, atol=1e-12) for a, b in pairs)
    return {
        "height": HEIGHT,
        "width": WIDTH,
        "channels": CHANNELS,
        "epsilon": EPSILON,
        "patch": PATCH,
        "layer_width": VIT_WIDTH,
        "heads": HEADS,
        "inner": INNER,
        "layers": LAYERS,
        "labels": ANSWERS,
        "count_of_labels": LABELS,
        "images": array(images),
        "weights": {name: array(value) for name, value in weights.items()},
        "logits": array(logits),
        "states": array(states),
        "attention": [array(alpha) for alpha in looked],
        "loss": float(f"{loss.item():.9g}"),
        "gradients": {name: array(value) for name, value in gradients.items()},
        "image_gradients": array(pixels),
    }


# ---------------------------------------------------------------- the caption model


def caption_shapes():
    shapes, width = {"encoder.network.stem.weight": [9 * CHANNELS, STAGES[0]]}, STAGES[0]
    norms = {"encoder.network.stem_norm": width}
    for at, channels in enumerate(STAGES):
        block = f"encoder.network.blocks.{at}"
        shapes[f"{block}.first.weight"] = [9 * width, channels]
        shapes[f"{block}.second.weight"] = [9 * channels, channels]
        norms |= {f"{block}.first_norm": channels, f"{block}.second_norm": channels}
        if at > 0:
            shapes[f"{block}.shortcut.convolution.weight"] = [width, channels]
            norms[f"{block}.shortcut.norm"] = channels
        width = channels
    shapes |= {f"{name}.{part}": [size] for name, size in norms.items() for part in ("scale", "shift")}
    maps = {
        "bridge.layers.0.hidden": [width, STATE],
        "bridge.layers.0.cell": [width, STATE],
        "attention.meeting": [width + STATE, STATE],
        "attention.gate": [STATE, 1],
        "attention.words": [EMBEDDING, STATE],
        "output": [STATE, VOCABULARY],
    }
    for name, shape in maps.items():
        shapes |= {f"decoder.{name}.weight": shape, f"decoder.{name}.bias": shape[1:]}
    return shapes | {
        "encoder.positions.weight": [REGIONS, width],
        "decoder.embedding.weight": [VOCABULARY, EMBEDDING],
        "decoder.attention.look.score.query": [STATE, ATTENTION],
        "decoder.attention.look.score.key": [width, ATTENTION],
        "decoder.attention.look.score.vector": [ATTENTION],
        "decoder.network.layers.0.forward.input": [EMBEDDING + width, 4 * STATE],
        "decoder.network.layers.0.forward.recurrent": [STATE, 4 * STATE],
        "decoder.network.layers.0.forward.bias": [4 * STATE],
    }


def convolution(weights, name, x, size, stride):
    """[B, C, H, W]."""
    weight = weights[f"{name}.weight"]
    kernel = weight.reshape(size, size, -1, weight.shape[1]).permute(3, 2, 0, 1)
    return functional.conv2d(x, kernel, stride=stride, padding=size // 2)


def group_norm(weights, name, x):
    return functional.group_norm(x, GROUPS, weights[f"{name}.scale"], weights[f"{name}.shift"], EPSILON)


def regions(weights, images):
    name = "encoder.network"
    x = functional.pad(images.permute(0, 3, 1, 2), (SIDE // 2, 0, SIDE // 2, 0))
    x = convolution(weights, f"{name}.stem", x, 3, STEM_STRIDE)
    x = functional.relu(group_norm(weights, f"{name}.stem_norm", x))
    for at in range(len(STAGES)):
        block, stride, around = f"{name}.blocks.{at}", 1 if at == 0 else 2, x
        if at > 0:
            around = convolution(weights, f"{block}.shortcut.convolution", x, 1, stride)
            around = group_norm(weights, f"{block}.shortcut.norm", around)
        inside = convolution(weights, f"{block}.first", x, 3, stride)
        inside = functional.relu(group_norm(weights, f"{block}.first_norm", inside))
        inside = group_norm(weights, f"{block}.second_norm", convolution(weights, f"{block}.second", inside, 3, 1))
        x = functional.relu(inside + around)
    return x[:, :, 1:, 1:].flatten(2).transpose(1, 2) + weights["encoder.positions.weight"]


def caption(weights, images):
    states = regions(weights, images)
    mean = states.mean(1)
    h = torch.tanh(linear(weights, "decoder.bridge.layers.0.hidden", mean))
    c = linear(weights, "decoder.bridge.layers.0.cell", mean)
    cell = nn.LSTMCell(EMBEDDING + states.shape[2], STATE).double()
    layer, score = "decoder.network.layers.0.forward", "decoder.attention.look.score"
    theirs = {
        "weight_ih": weights[f"{layer}.input"].T,
        "weight_hh": weights[f"{layer}.recurrent"].T,
        "bias_ih": weights[f"{layer}.bias"],
        "bias_hh": torch.zeros(4 * STATE).double(),
    }
    keys, logits, looked = states @ weights[f"{score}.key"], [], []
    for t in range(INPUT.shape[1]):
        vector = weights["decoder.embedding.weight"][INPUT[:, t]]
        relevance = torch.tanh((h @ weights[f"{score}.query"]).unsqueeze(1) + keys) @ weights[f"{score}.vector"]
        alpha = torch.softmax(relevance, dim=1)
        gate = torch.sigmoid(linear(weights, "decoder.attention.gate", h))
        context = gate * (alpha.unsqueeze(2) * states).sum(1)
        h, c = functional_call(cell, theirs, (torch.cat([vector, context], dim=1), (h, c)))
        met = linear(weights, "decoder.attention.meeting", torch.cat([context, h], dim=1))
        met = torch.tanh(met + linear(weights, "decoder.attention.words", vector))
        logits.append(linear(weights, "decoder.output", met))
        looked.append(alpha)
    exists = EXISTS.unsqueeze(2)
    return torch.stack(logits, dim=1) * exists, states, torch.stack(looked, dim=1) * exists


def caption_loss(logits, looked, cost):
    loss = functional.cross_entropy(logits.flatten(0, 1), TARGET.flatten(), ignore_index=PAD)
    return loss + cost / TOKENS * ((1 - looked.sum(1)) ** 2).sum()


def caption_case(generator):
    weights = draw(caption_shapes(), generator)
    images = random(generator, BATCH, HEIGHT, WIDTH, CHANNELS, scale=1.0)

    def learnt(cost):
        own, seen = leaves(weights), images.clone().requires_grad_()
        logits, states, looked = caption(own, seen)
        loss = caption_loss(logits, looked, cost)
        loss.backward()
        return logits, states, looked, loss, {name: array(value.grad) for name, value in own.items()}, array(seen.grad)

    logits, states, looked, loss, gradients, pixels = learnt(0.0)
    even = learnt(COST)
    case = {
        "height": HEIGHT,
        "width": WIDTH,
        "channels": CHANNELS,
        "epsilon": EPSILON,
        "stages": STAGES,
        "groups": GROUPS,
        "stem_stride": STEM_STRIDE,
        "state": STATE,
        "embedding": EMBEDDING,
        "attention_width": ATTENTION,
        "vocabulary": VOCABULARY,
        "decoder_input": array(INPUT),
        "target": array(TARGET),
        "target_lengths": [len(row) for row in TARGET_ROWS],
        "images": array(images),
        "weights": {name: array(value) for name, value in weights.items()},
        "states": array(states),
        "logits": array(logits),
        "attention": array(looked),
        "loss": float(f"{loss.item():.9g}"),
        "gradients": gradients,
        "image_gradients": pixels,
        "even": {"cost": COST, "gradients": even[4]},
    }
    check_caption(case)
    return case


# ---------------------------------------------------------------- the same once more, one pixel at a time


def read(entry):
    return np.array(entry["values"]).reshape(entry["shape"])


class Plain:
    """One image after the other, by the equations at the head of this file."""

    def __init__(self, given):
        self.given = given
        self.nearest = math.inf  # of what relu takes, the nearest to its kink

    def linear(self, name, x):
        return x @ self.given[f"{name}.weight"] + self.given[f"{name}.bias"]

    def relu(self, x):
        self.nearest = min(self.nearest, abs(x).min())
        return np.maximum(x, 0)

    def convolution(self, name, x, size, stride):
        weight = self.given[f"{name}.weight"]
        height, width, channels = x.shape
        y = np.zeros(((height - 1) // stride + 1, (width - 1) // stride + 1, weight.shape[1]))
        for i, j, u, v in np.ndindex(*y.shape[:2], size, size):
            row, column = i * stride + u - size // 2, j * stride + v - size // 2
            if 0 <= row < height and 0 <= column < width:
                y[i, j] += x[row, column] @ weight[(u * size + v) * channels :][:channels]
        return y

    def group_norm(self, name, x):
        size = x.shape[2] // GROUPS
        groups = [x[:, :, at : at + size] for at in range(0, x.shape[2], size)]
        normed = [(group - group.mean()) / math.sqrt(group.var() + EPSILON) for group in groups]
        return np.concatenate(normed, axis=2) * self.given[f"{name}.scale"] + self.given[f"{name}.shift"]

    def regions(self, image):
        name = "encoder.network"
        x = np.zeros((HEIGHT + SIDE // 2, WIDTH + SIDE // 2, CHANNELS))
        x[SIDE // 2 :, SIDE // 2 :] = image
        x = self.relu(self.group_norm(f"{name}.stem_norm", self.convolution(f"{name}.stem", x, 3, STEM_STRIDE)))
        for at in range(len(STAGES)):
            block, stride, around = f"{name}.blocks.{at}", 1 if at == 0 else 2, x
            if at > 0:
                around = self.convolution(f"{block}.shortcut.convolution", x, 1, stride)
                around = self.group_norm(f"{block}.shortcut.norm", around)
            inside = self.group_norm(f"{block}.first_norm", self.convolution(f"{block}.first", x, 3, stride))
            inside = self.convolution(f"{block}.second", self.relu(inside), 3, 1)
            x = self.relu(self.group_norm(f"{block}.second_norm", inside) + around)
        return x[1:, 1:].reshape(REGIONS, -1) + self.given["encoder.positions.weight"]

    def run(self, images, cost):
        """The loss, and for each image states, logits and attention."""
        loss, uneven, found = 0.0, 0.0, []
        sigmoid = lambda x: 1 / (1 + np.exp(-x))
        layer, score = "decoder.network.layers.0.forward", "decoder.attention.look.score"
        for image, row in zip(images, TARGET_ROWS, strict=True):
            states = self.regions(image)
            mean = sum(states) / REGIONS
            h = np.tanh(self.linear("decoder.bridge.layers.0.hidden", mean))
            c = self.linear("decoder.bridge.layers.0.cell", mean)
            logits, looked = [], []
            for before, token in zip([START] + row[:-1], row, strict=True):
                vector = self.given["decoder.embedding.weight"][before]
                query = h @ self.given[f"{score}.query"]
                inside = [np.tanh(query + state @ self.given[f"{score}.key"]) for state in states]
                powers = np.exp(inside @ self.given[f"{score}.vector"])
                looked.append(powers / sum(powers))
                context = sigmoid(self.linear("decoder.attention.gate", h)) * (looked[-1] @ states)
                gates = np.concatenate([vector, context]) @ self.given[f"{layer}.input"]
                gates = gates + h @ self.given[f"{layer}.recurrent"] + self.given[f"{layer}.bias"]
                i, f, g, o = gates.reshape(4, STATE)
                c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
                h = sigmoid(o) * np.tanh(c)
                met = self.linear("decoder.attention.meeting", np.concatenate([context, h]))
                met = np.tanh(met + self.linear("decoder.attention.words", vector))
                logits.append(self.linear("decoder.output", met))
                loss += math.log(sum(np.exp(logits[-1]))) - logits[-1][token]
            uneven += sum((1 - sum(looked)) ** 2)
            found.append((states, logits, looked))
        return (loss + cost * uneven) / TOKENS, found


def check_caption(case):
    given = {name: read(value) for name, value in case["weights"].items()}
    images, plain = read(case["images"]), Plain(given)
    loss, found = plain.run(images, 0.0)
    assert np.isclose(loss, case["loss"], rtol=1e-8)
    for at, (states, logits, looked) in enumerate(found):
        assert np.allclose(states, read(case["states"])[at], rtol=1e-7, atol=1e-8)
        assert np.allclose(logits, read(case["logits"])[at][: len(logits)], rtol=1e-7, atol=1e-8)
        assert np.allclose(looked, read(case["attention"])[at][: len(looked)], rtol=1e-7, atol=1e-8)
    assert plain.nearest > 1e-4, plain.nearest  # no kink where slopes are taken
    generator, step = np.random.default_rng(SEED), 1e-6
    for cost, gradients in ((0.0, case["gradients"]), (COST, case["even"]["gradients"])):
        for name in given:
            gradient = read(gradients[name])
            # Half the way of the gradient, half any: a wrong size shows, and so does a wrong place.
            way = gradient / max(np.linalg.norm(gradient), 1e-9) + generator.normal(size=gradient.shape)
            way = way / np.linalg.norm(way)
            at = lambda shift: Plain(given | {name: given[name] + shift * way}).run(images, cost)[0]
            slope = (at(step) - at(-step)) / (2 * step)
            assert abs(slope - (gradient * way).sum()) < 1e-7, (name, slope, (gradient * way).sum())
    gradient = read(case["image_gradients"])
    way = gradient / np.linalg.norm(gradient)
    at = lambda shift: plain.run(images + shift * way, 0.0)[0]
    assert abs((at(step) - at(-step)) / (2 * step) - (gradient * way).sum()) < 1e-7


def vision_models():
    generator = torch.Generator().manual_seed(SEED)
    return {"vit": vit_case(generator), "caption": caption_case(generator)}


if __name__ == "__main__":
    write(vision_models)
