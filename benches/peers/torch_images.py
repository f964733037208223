"""The models of the works that read images, in PyTorch: a residual network with group norm, what tells a label or
writes captions of its regions, and a Vision Transformer of `nn.TransformerEncoder`.

Letters: B images, N captions of an image, T tokens of each, S regions, C width of a region, H state.
"""

import pathlib

import numpy
import torch
import torch.nn.functional as F
from torch import nn

import rounds
from torch_recurrent import take_layer
from torch_transformer import take_linear, take_norm


def pieces(data, config):
    """The images [B, H, W, C] of each batch or call, from -1 to 1, and what is true of them."""
    sizes = [config["images"][name] for name in ("height", "width", "channels")]
    data, read = pathlib.Path(data), rounds.read(data)
    pixels = numpy.fromfile(data.with_suffix(".pixels"), numpy.uint8).astype(numpy.float32)
    images = torch.from_numpy((pixels / 255 - 0.5) / 0.5).view(-1, *sizes)
    return zip(images.split([piece["images"] for piece in read]), [torch.tensor(piece["target"]) for piece in read])


def build(config, found):
    """The model of a configuration with the weights of a run directory."""
    kind = Captioner if config["task"] == "caption" else Classifier if "cnn" in config["encoder"] else VisionTransformer
    model = kind(config, found)
    with torch.no_grad():
        model.take(found)
    return model


class Block(nn.Module):
    def __init__(self, inputs, outputs, stride, groups):
        super().__init__()
        self.first = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.first_norm = nn.GroupNorm(groups, outputs)
        self.second = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.second_norm = nn.GroupNorm(groups, outputs)
        self.around = self.around_norm = None
        if stride != 1 or inputs != outputs:
            self.around = nn.Conv2d(inputs, outputs, 1, stride, bias=False)
            self.around_norm = nn.GroupNorm(groups, outputs)

    def forward(self, x):
        around = x if self.around is None else self.around_norm(self.around(x))
        inside = F.relu(self.first_norm(self.first(x)), inplace=True)
        return F.relu(self.second_norm(self.second(inside)).add_(around), inplace=True)

    def take(self, found, name):
        parts = [(self.first, self.first_norm, "first", "first_norm"),
                 (self.second, self.second_norm, "second", "second_norm")]
        if self.around is not None:
            parts.append((self.around, self.around_norm, "shortcut.convolution", "shortcut.norm"))
        for convolution, norm, weight, scale in parts:
            take_convolution(convolution, found, f"{name}.{weight}")
            take_norm(norm, found, f"{name}.{scale}")


def take_convolution(convolution, found, name):
    """From a row for every row and column of the window and every channel."""
    outputs, inputs, height, width = convolution.weight.shape
    weight = found[f"{name}.weight"].view(height, width, inputs, outputs)
    convolution.weight.copy_(weight.permute(3, 2, 0, 1))


class Regions(nn.Module):
    """A residual network, and where each region stands."""

    def __init__(self, config):
        super().__init__()
        settings, images = config["encoder"]["cnn"], config["images"]
        widths = settings["channels"]
        self.width = widths[-1]
        self.stem = nn.Conv2d(images["channels"], widths[0], 3, settings["stem_stride"], 1, bias=False)
        self.stem_norm = nn.GroupNorm(settings["groups"], widths[0])
        self.blocks = nn.Sequential(*(
            Block(before, width, 1 if stage == 0 else 2, settings["groups"])
            for stage, (before, width) in enumerate(zip([widths[0], *widths], widths))
        ))
        stride = settings["stem_stride"] << (len(widths) - 1)
        self.positions = nn.Parameter(torch.zeros(images["height"] // stride * (images["width"] // stride), self.width))

    def forward(self, images):
        """[B, H, W, C] → [B, S, C]."""
        x = F.relu(self.stem_norm(self.stem(images.permute(0, 3, 1, 2))), inplace=True)
        return self.blocks(x).flatten(2).transpose(1, 2) + self.positions

    def take(self, found):
        take_convolution(self.stem, found, "encoder.network.stem")
        take_norm(self.stem_norm, found, "encoder.network.stem_norm")
        for number, block in enumerate(self.blocks):
            block.take(found, f"encoder.network.blocks.{number}")
        self.positions.copy_(found["encoder.positions.weight"])


class Classifier(nn.Module):
    """A label from the mean region."""

    def __init__(self, config, found):
        super().__init__()
        self.regions = Regions(config)
        self.output = nn.Linear(self.regions.width, len(found["head.output.bias"]))

    def forward(self, images):
        return self.output(self.regions(images).mean(1))

    def take(self, found):
        self.regions.take(found)
        take_linear(self.output, found, "head.output")


class Captioner(nn.Module):
    """Captions as in Show, Attend and Tell, where the state behind a step asks: so the LSTM reads all tokens at once,
    and all look at once. The captions of an image look one behind the other, so that its keys serve all of them."""

    def __init__(self, config, _):
        super().__init__()
        writer, size, inside = config["decoder"]["lstm"], config["tokens"]["size"], config["attention"]["width"]
        self.regions = Regions(config)
        seen, state = self.regions.width, writer["width"]
        self.embedding = nn.Embedding(size, writer["embedding"])
        self.cell = nn.LSTM(writer["embedding"], state, batch_first=True)
        self.first_hidden, self.first_cell = nn.Linear(seen, state), nn.Linear(seen, state)
        self.query, self.key = nn.Linear(state, inside, bias=False), nn.Linear(seen, inside, bias=False)
        self.vector = nn.Parameter(torch.zeros(inside))
        self.gate = nn.Linear(state, 1)
        self.meeting, self.words = nn.Linear(seen + state, state), nn.Linear(writer["embedding"], state)
        self.output = nn.Linear(state, size)

    def forward(self, images, inputs):
        """Scores [B · N, T, V] from inputs [B · N, T]."""
        memory = self.regions(images)  # [B, S, C]
        count, each = memory.size(0), inputs.size(0) // memory.size(0)
        mean = memory.mean(1)
        first = torch.tanh(self.first_hidden(mean)), self.first_cell(mean)
        vectors = self.embedding(inputs)
        states, _ = self.cell(vectors, tuple(part.repeat_interleave(each, 0)[None] for part in first))  # [B · N, T, H]
        asked, keys = self.query(states).view(count, -1, 1, self.vector.size(0)), self.key(memory)[:, None]
        scores = torch.tanh(asked + keys) @ self.vector  # [B, N · T, S]
        seen = (scores.softmax(-1) @ memory).view(*states.shape[:2], -1) * torch.sigmoid(self.gate(states))
        return self.output(torch.tanh(self.meeting(torch.cat([seen, states], -1)) + self.words(vectors)))

    def take(self, found):
        self.regions.take(found)
        self.embedding.weight.copy_(found["decoder.embedding.weight"])
        take_layer(self.cell, "", found, "decoder.network.layers.0.forward")
        self.query.weight.copy_(found["decoder.attention.look.score.query"].T)
        self.key.weight.copy_(found["decoder.attention.look.score.key"].T)
        self.vector.copy_(found["decoder.attention.look.score.vector"])
        for linear, name in (
            (self.first_hidden, "bridge.layers.0.hidden"), (self.first_cell, "bridge.layers.0.cell"),
            (self.gate, "attention.gate"), (self.meeting, "attention.meeting"), (self.words, "attention.words"),
            (self.output, "output"),
        ):
            take_linear(linear, found, f"decoder.{name}")


class VisionTransformer(nn.Module):
    def __init__(self, config, found):
        super().__init__()
        settings = config["encoder"]["vit"]
        self.patch, width = settings["patch"], settings["width"]
        self.dropout = config["head"]["dropout"]
        self.projection = nn.Linear(self.patch**2 * config["images"]["channels"], width)
        self.positions = nn.Parameter(torch.zeros_like(found["encoder.positions.weight"]))
        self.whole = nn.Parameter(torch.zeros(1, 1, width))
        layer = nn.TransformerEncoderLayer(
            width, settings["heads"], settings["feed_forward"], 0.0, "gelu", batch_first=True, norm_first=True
        )
        norm = nn.LayerNorm(width)
        self.layers = nn.TransformerEncoder(layer, settings["layers"], norm, enable_nested_tensor=False)
        self.output = nn.Linear(width, len(found["head.output.bias"]))

    def forward(self, images):
        count, height, width, channels = images.shape
        rows, columns = height // self.patch, width // self.patch
        cut = images.reshape(count, rows, self.patch, columns, self.patch * channels).transpose(2, 3)
        patches = self.projection(cut.reshape(count, rows * columns, -1)) + self.positions
        states = self.layers(torch.cat([self.whole.expand(count, -1, -1), patches], 1))
        return self.output(F.dropout(states[:, 0], self.dropout, self.training))

    def take(self, found):
        take_linear(self.projection, found, "encoder.projection")
        self.positions.copy_(found["encoder.positions.weight"])
        self.whole.copy_(found["encoder.class"])
        for number, layer in enumerate(self.layers.layers):
            name = f"encoder.stack.layers.{number}"
            parts = [f"{name}.attention.{part}" for part in ("query", "key", "value")]
            layer.self_attn.in_proj_weight.copy_(torch.cat([found[f"{part}.weight"] for part in parts], 1).T)
            layer.self_attn.in_proj_bias.copy_(torch.cat([found[f"{part}.bias"] for part in parts]))
            take_linear(layer.self_attn.out_proj, found, f"{name}.attention.output")
            take_linear(layer.linear1, found, f"{name}.feed_forward.inner")
            take_linear(layer.linear2, found, f"{name}.feed_forward.outer")
            take_norm(layer.norm1, found, f"{name}.attention_norm")
            take_norm(layer.norm2, found, f"{name}.feed_forward_norm")
        take_norm(self.layers.norm, found, "encoder.stack.norm")
        take_linear(self.output, found, "head.output")
