"""The Transformer of the works in PyTorch, as fast as its operations allow: one product for queries, keys and values,
and `scaled_dot_product_attention`.

Letters: B sentences, T queries, S keys, H heads, D width of a head, C = H · D.
"""

import math

import torch
import torch.nn.functional as F
from torch import nn

from weights import sinusoids

PAD, START = 0, 1


class Attention(nn.Module):
    def __init__(self, width, heads, dropout):
        super().__init__()
        self.heads, self.dropout = heads, dropout
        self.inputs = nn.Linear(width, 3 * width)
        self.output = nn.Linear(width, width)

    def split(self, x):  # [B, T, C] -> [B, H, T, D]
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def forward(self, x, memory=None, mask=None, causal=False):
        if memory is None:
            query, key, value = self.inputs(x).chunk(3, -1)
        else:
            width = x.size(-1)
            query = F.linear(x, self.inputs.weight[:width], self.inputs.bias[:width])
            key, value = F.linear(memory, self.inputs.weight[width:], self.inputs.bias[width:]).chunk(2, -1)
        dropout = self.dropout if self.training else 0.0
        seen = F.scaled_dot_product_attention(
            self.split(query), self.split(key), self.split(value), attn_mask=mask, dropout_p=dropout, is_causal=causal
        )
        return self.output(seen.transpose(1, 2).flatten(2))

    def take(self, found, name):
        parts = [found[f"{name}.{part}.weight"] for part in ("query", "key", "value")]
        biases = [found[f"{name}.{part}.bias"] for part in ("query", "key", "value")]
        self.inputs.weight.copy_(torch.cat(parts, 1).T)
        self.inputs.bias.copy_(torch.cat(biases))
        take_linear(self.output, found, f"{name}.output")


class Layer(nn.Module):
    def __init__(self, settings, writes):
        super().__init__()
        width = settings["width"]
        self.rates = settings["dropout"], settings["activation_dropout"]
        self.attention = Attention(width, settings["heads"], settings["attention_dropout"])
        self.attention_norm = nn.LayerNorm(width)
        self.cross = Attention(width, settings["heads"], settings["attention_dropout"]) if writes else None
        self.cross_norm = nn.LayerNorm(width) if writes else None
        self.inner = nn.Linear(width, settings["feed_forward"])
        self.outer = nn.Linear(settings["feed_forward"], width)
        self.feed_forward_norm = nn.LayerNorm(width)

    def drop(self, x, rate):
        return F.dropout(x, rate, self.training)

    def forward(self, x, mask=None, memory=None, memory_mask=None):
        rate, inner_rate = self.rates
        causal = self.cross is not None
        x = self.attention_norm(x + self.drop(self.attention(x, mask=mask, causal=causal), rate))
        if causal:
            x = self.cross_norm(x + self.drop(self.cross(x, memory, memory_mask), rate))
        inner = self.drop(F.relu(self.inner(x)), inner_rate)
        return self.feed_forward_norm(x + self.drop(self.outer(inner), rate))

    def take(self, found, name):
        self.attention.take(found, f"{name}.attention")
        take_norm(self.attention_norm, found, f"{name}.attention_norm")
        if self.cross is not None:
            self.cross.take(found, f"{name}.cross")
            take_norm(self.cross_norm, found, f"{name}.cross_norm")
        take_linear(self.inner, found, f"{name}.feed_forward.inner")
        take_linear(self.outer, found, f"{name}.feed_forward.outer")
        take_norm(self.feed_forward_norm, found, f"{name}.feed_forward_norm")


def take_linear(linear, found, name):
    linear.weight.copy_(found[f"{name}.weight"].T)
    linear.bias.copy_(found[f"{name}.bias"])


def take_norm(norm, found, name):
    norm.weight.copy_(found[f"{name}.scale"])
    norm.bias.copy_(found[f"{name}.shift"])


class Transformer(nn.Module):
    def __init__(self, config):
        super().__init__()
        encoder, decoder = config["encoder"]["transformer"], config["decoder"]["transformer"]
        width = encoder["width"]
        self.embedding = nn.Embedding(config["tokens"]["size"], width)
        self.bias = nn.Parameter(torch.zeros(config["tokens"]["size"]))
        self.register_buffer("positions", torch.from_numpy(sinusoids(2048, width)))
        self.encoder = nn.ModuleList(Layer(encoder, False) for _ in range(encoder["layers"]))
        self.decoder = nn.ModuleList(Layer(decoder, True) for _ in range(decoder["layers"]))
        self.dropout = encoder["dropout"]

    def take(self, found):
        """The weights of a run directory."""
        self.embedding.weight.copy_(found["decoder.embedding.weight"])
        self.bias.copy_(found["decoder.output.bias"])
        for part in ("encoder", "decoder"):
            for number, layer in enumerate(getattr(self, part)):
                layer.take(found, f"{part}.stack.layers.{number}")

    def embed(self, ids):
        vectors = self.embedding(ids) * math.sqrt(self.embedding.embedding_dim) + self.positions[: ids.size(1)]
        return F.dropout(vectors, self.dropout, self.training)

    def forward(self, source, inputs, lengths=None):
        """Scores [B, T, V]; `lengths` of the sources where they differ."""
        mask = None
        if lengths is not None:
            mask = (torch.arange(source.size(1)) < lengths[:, None])[:, None, None, :]  # [B, 1, 1, S]
        memory = self.embed(source)
        for layer in self.encoder:
            memory = layer(memory, mask)
        x = self.embed(inputs)
        for layer in self.decoder:
            x = layer(x, None, memory, mask)
        return F.linear(x, self.embedding.weight, self.bias)
