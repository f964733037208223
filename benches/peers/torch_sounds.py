"""The model of the works that hear, in PyTorch: log-mel features, a pyramid of `nn.LSTM`, and a speller that looks at it.

Letters: B recordings, T frames, S states of the pyramid, C width of a state, A width inside the score, H state of the
speller.
"""

import math
import pathlib

import numpy
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

import rounds
from torch_recurrent import take_layer


def pieces(data, config):
    """Of each batch the frames [B, T, bands], with zeros behind the shorter recordings, their lengths if they differ, and
    what is said."""
    bands = config["sound"]["features"]["bands"]
    read, values = rounds.read(data), numpy.fromfile(pathlib.Path(data).with_suffix(".values"), numpy.float32)
    frames = torch.from_numpy(values).view(-1, bands)
    for batch, together in zip(read, frames.split([sum(batch["lengths"]) for batch in read])):
        lengths = torch.tensor(batch["lengths"])
        padded = pad_sequence(together.split(batch["lengths"]), batch_first=True)
        yield padded, lengths if int(lengths.min()) < padded.size(1) else None, batch["target"]


def recordings(data):
    """Of each call the samples of its recordings."""
    read, values = rounds.read(data), numpy.fromfile(pathlib.Path(data).with_suffix(".values"), numpy.float32)
    samples = torch.from_numpy(values)
    for call, together in zip(read, samples.split([sum(call["samples"]) for call in read])):
        yield together.split(call["samples"])


def build(config, found):
    """The model of a configuration with the weights of a run directory."""
    model = Listener(config)
    with torch.no_grad():
        model.take(found)
    return model


class Features(nn.Module):
    """The logarithm of power in bands of Slaney's mel scale, with mean 0 and deviation 1 in every band."""

    def __init__(self, config):
        super().__init__()
        sound, settings = config["sound"], config["sound"]["features"]
        rate = sound["rate"]
        self.window, self.hop = (round(settings[name] * rate / 1000) for name in ("window", "hop"))
        self.transform = 1 << (self.window - 1).bit_length()
        self.register_buffer("hann", torch.hann_window(self.window))
        self.register_buffer("bands", triangles(settings["bands"], rate, self.transform))

    def forward(self, samples):
        """[samples] → [T, bands]."""
        spectrum = torch.stft(samples, self.transform, self.hop, self.window, self.hann, return_complex=True)
        power = spectrum.real.square() + spectrum.imag.square()  # [F, T]
        values = (self.bands @ power).clamp_min(1e-10).log().T
        deviation, mean = torch.std_mean(values, 0, correction=0)
        return (values - mean) / deviation.clamp_min(1e-5)


def triangles(count, rate, transform):
    """[bands, F], each divided by half its width."""
    def mel(hertz):
        return hertz * 3 / 200 if hertz < 1000 else 15 + math.log(hertz / 1000) * 27 / math.log(6.4)

    def hertz(mel):
        return mel * 200 / 3 if mel < 15 else 1000 * math.exp((mel - 15) * math.log(6.4) / 27)

    corners = [hertz(mel(rate / 2) * place / (count + 1)) for place in range(count + 2)]
    bins = torch.arange(transform // 2 + 1) * rate / transform
    rows = [
        torch.minimum((bins - left) / (middle - left), (right - bins) / (right - middle)).clamp_min(0) * 2 / (right - left)
        for left, middle, right in zip(corners, corners[1:], corners[2:])
    ]
    return torch.stack(rows)


class Listener(nn.Module):
    def __init__(self, config):
        super().__init__()
        reader, writer, size = config["encoder"]["listener"], config["decoder"]["lstm"], config["tokens"]["size"]
        inside, width = config["attention"]["width"], reader["width"]
        self.flat = reader["layers"] - reader["pyramid"]  # layers that read every state
        self.dropout, self.states, self.width = reader["dropout"], 2 * width, writer["width"]
        self.features = Features(config)
        read = config["sound"]["features"]["bands"]
        self.layers = nn.ModuleList()
        for depth in range(reader["layers"]):
            read = (read if depth == 0 else self.states) * (1 if depth < self.flat else 2)
            self.layers.append(nn.LSTM(read, width, bidirectional=True, batch_first=True))
        self.embedding = nn.Embedding(size, writer["embedding"])
        self.cell = nn.LSTM(writer["embedding"] + self.states, self.width, batch_first=True)
        self.query, self.key = nn.Linear(self.width, inside, bias=False), nn.Linear(self.states, inside, bias=False)
        self.vector = nn.Parameter(torch.zeros(inside))
        self.meeting = nn.Linear(self.states + self.width, self.width)
        self.output = nn.Linear(self.width, size)

    def take(self, found):
        """The weights of a run directory."""
        for depth, layer in enumerate(self.layers):
            for suffix, direction in (("", "forward"), ("_reverse", "backward")):
                take_layer(layer, suffix, found, f"encoder.pyramid.layers.{depth}.layers.0.{direction}")
        take_layer(self.cell, "", found, "decoder.network.layers.0.forward")
        self.embedding.weight.copy_(found["decoder.embedding.weight"])
        self.query.weight.copy_(found["decoder.attention.look.score.query"].T)
        self.key.weight.copy_(found["decoder.attention.look.score.key"].T)
        self.vector.copy_(found["decoder.attention.look.score.vector"])
        for linear, name in ((self.meeting, "decoder.attention.meeting"), (self.output, "decoder.output")):
            linear.weight.copy_(found[f"{name}.weight"].T)
            linear.bias.copy_(found[f"{name}.bias"])

    def listen(self, frames, lengths):
        """States [B, S, C] of frames [B, T, bands], their keys, and which of them exist if lengths differ."""
        states = frames
        for depth, layer in enumerate(self.layers):
            if depth >= self.flat:
                # Neighbours as one; behind the end of a recording stand zeros.
                states = F.pad(states, (0, 0, 0, states.size(1) % 2)).unflatten(1, (-1, 2)).flatten(2)
                lengths = None if lengths is None else (lengths + 1) // 2
            if lengths is None:
                states, _ = layer(states)
            else:
                total = states.size(1)
                packed = pack_padded_sequence(states, lengths, batch_first=True, enforce_sorted=False)
                states, _ = pad_packed_sequence(layer(packed)[0], batch_first=True, total_length=total)
            states = F.dropout(states, self.dropout, self.training and depth + 1 < len(self.layers))
        mask = None if lengths is None else torch.arange(states.size(1)) < lengths[:, None]
        return states, self.key(states), mask

    def look(self, hidden, memory):
        """What states [B, H] hear: [B, C]."""
        states, keys, mask = memory
        scores = torch.tanh(self.query(hidden)[:, None] + keys) @ self.vector  # [B, S]
        if mask is not None:
            scores = scores.masked_fill(~mask, float("-inf"))
        return (scores.softmax(-1)[:, None] @ states)[:, 0]

    def known(self, vectors):
        """The part of the gates that token vectors alone decide."""
        weight = self.cell.weight_ih_l0[:, : vectors.size(-1)]
        return F.linear(vectors, weight, self.cell.bias_ih_l0 + self.cell.bias_hh_l0)

    def step(self, known, memory, hidden, cell):
        """One step of the speller: what it hears, and its state behind that."""
        context = self.look(hidden, memory)
        beside = self.cell.weight_ih_l0[:, -self.states :]
        sums = torch.addmm(torch.addmm(known, context, beside.T), hidden, self.cell.weight_hh_l0.T)
        i, f, g, o = sums.chunk(4, 1)
        cell = torch.sigmoid(f) * cell + torch.sigmoid(i) * torch.tanh(g)
        return context, torch.sigmoid(o) * torch.tanh(cell), cell

    def first(self, memory):
        return [memory[0].new_zeros(memory[0].size(0), self.width) for _ in range(2)]

    def project(self, states, contexts):
        return self.output(torch.tanh(self.meeting(torch.cat([contexts, states], -1))))

    def forward(self, frames, inputs, lengths=None):
        """Scores [B, steps, V]; `lengths` of the recordings where they differ."""
        memory = self.listen(frames, lengths)
        hidden, cell = self.first(memory)
        states, contexts = [], []
        for known in self.known(self.embedding(inputs)).unbind(1):
            context, hidden, cell = self.step(known, memory, hidden, cell)
            states.append(hidden)
            contexts.append(context)
        return self.project(torch.stack(states, 1), torch.stack(contexts, 1))

    def spell(self, samples, length, start, end):
        """So many tokens of a recording, each the most probable, the last of them the end."""
        memory = self.listen(self.features(samples)[None], None)
        hidden, cell = self.first(memory)
        token, written = torch.tensor([start]), []
        for _ in range(length - 1):
            context, hidden, cell = self.step(self.known(self.embedding(token)), memory, hidden, cell)
            scores = self.project(hidden, context)
            scores[:, end] = float("-inf")
            token = scores.argmax(1)
            written.append(int(token))
        return written
