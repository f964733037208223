"""The recurrent model of the works in PyTorch: the fused `nn.LSTM` where a whole sequence can be read at once, the
products of what is known beforehand outside the loop where a step has to know what the one before it looked at.

Letters: B sentences, T steps, S positions, A width inside the additive score, C context, H state.
"""

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


class Recurrent(nn.Module):
    def __init__(self, config):
        super().__init__()
        size = config["tokens"]["size"]
        reader, writer = config["encoder"]["lstm"], config["decoder"]["lstm"]
        attention = config["attention"]
        self.states, self.width = 2 * reader["width"], writer["width"]
        self.previous = attention["query"] == "previous"
        self.dropout = writer["dropout"]
        self.source_embedding = nn.Embedding(size, reader["embedding"])
        self.encoder = nn.LSTM(reader["embedding"], reader["width"], bidirectional=True, batch_first=True)
        self.embedding = nn.Embedding(size, writer["embedding"])
        beside = self.states if self.previous else 0
        self.cell = nn.LSTM(writer["embedding"] + beside, self.width, batch_first=True)
        self.query = nn.Linear(self.width, attention["width"], bias=False)
        self.key = nn.Linear(self.states, attention["width"], bias=False)
        self.vector = nn.Parameter(torch.zeros(attention["width"]))
        self.meeting = nn.Linear(self.states + self.width, self.width)
        self.narrow = nn.Linear(self.width, writer["output"])
        self.output = nn.Linear(writer["output"], size)

    def take(self, found):
        """The weights of a run directory."""
        self.source_embedding.weight.copy_(found["encoder.embedding.weight"])
        self.embedding.weight.copy_(found["decoder.embedding.weight"])
        take_layer(self.encoder, "", found, "encoder.network.layers.0.forward")
        take_layer(self.encoder, "_reverse", found, "encoder.network.layers.0.backward")
        take_layer(self.cell, "", found, "decoder.network.layers.0.forward")
        self.query.weight.copy_(found["decoder.attention.look.score.query"].T)
        self.key.weight.copy_(found["decoder.attention.look.score.key"].T)
        self.vector.copy_(found["decoder.attention.look.score.vector"])
        for linear, name in ((self.meeting, "decoder.attention.meeting"), (self.narrow, "decoder.output.narrow")):
            linear.weight.copy_(found[f"{name}.weight"].T)
            linear.bias.copy_(found[f"{name}.bias"])
        self.output.weight.copy_(found["decoder.output.weight"].T)
        self.output.bias.copy_(found["decoder.output.bias"])

    def drop(self, x):
        return F.dropout(x, self.dropout, self.training)

    def encode(self, source, lengths=None):
        """States [B, S, C] with their keys and mask, and the first state of the decoder."""
        vectors = self.drop(self.source_embedding(source))
        mask = None
        if lengths is not None:
            mask = torch.arange(source.size(1)) < lengths[:, None]  # [B, S]
            vectors = pack_padded_sequence(vectors, lengths, batch_first=True, enforce_sorted=False)
        states, last = self.encoder(vectors)
        if lengths is not None:
            states, _ = pad_packed_sequence(states, batch_first=True)
        hidden, cell = (part.transpose(0, 1).flatten(1) for part in last)  # [B, 2 · width]
        return (states, self.key(states), mask), (hidden, cell)

    def look(self, query, memory):
        """What queries [B, T, H] see: [B, T, C]."""
        states, keys, mask = memory
        asked = self.query(query)  # [B, T, A]
        scores = torch.tanh(asked[:, :, None] + keys[:, None]) @ self.vector  # [B, T, S]
        if mask is not None:
            scores = scores.masked_fill(~mask[:, None], float("-inf"))
        return scores.softmax(-1) @ states

    def gates(self, known, context, hidden, cell):
        """One step of the cell, from what its input was multiplied to beforehand."""
        beside = self.cell.weight_ih_l0[:, -self.states :]
        sums = torch.addmm(torch.addmm(known, context, beside.T), hidden, self.cell.weight_hh_l0.T)
        i, f, g, o = sums.chunk(4, 1)
        cell = torch.sigmoid(f) * cell + torch.sigmoid(i) * torch.tanh(g)
        return torch.sigmoid(o) * torch.tanh(cell), cell

    def known(self, vectors):
        """The part of the gates that token vectors alone decide."""
        weight = self.cell.weight_ih_l0[:, : vectors.size(-1)]
        return F.linear(vectors, weight, self.cell.bias_ih_l0 + self.cell.bias_hh_l0)

    def read(self, vectors, memory, state):
        """States [B, T, H] and contexts [B, T, C] behind every token vector [B, T, E]."""
        if not self.previous:
            states, last = self.cell(vectors, tuple(part[None] for part in state))
            return states, self.look(states, memory), tuple(part[0] for part in last)
        hidden, cell = state
        states, contexts = [], []
        for known in self.known(vectors).unbind(1):
            context = self.look(hidden[:, None], memory)[:, 0]
            hidden, cell = self.gates(known, context, hidden, cell)
            states.append(hidden)
            contexts.append(context)
        return torch.stack(states, 1), torch.stack(contexts, 1), (hidden, cell)

    def project(self, states, contexts):
        met = torch.tanh(self.meeting(torch.cat([contexts, states], -1)))
        return self.output(torch.tanh(self.narrow(self.drop(met))))

    def forward(self, source, inputs, lengths=None):
        """Scores [B, T, V]; `lengths` of the sources where they differ."""
        memory, state = self.encode(source, lengths)
        states, contexts, _ = self.read(self.drop(self.embedding(inputs)), memory, state)
        return self.project(states, contexts)

    def step(self, tokens, memory, state):
        """Scores [B, V] behind one token of each row, and the next state."""
        states, contexts, state = self.read(self.embedding(tokens[:, None]), memory, state)
        return self.project(states, contexts)[:, 0], state


def take_layer(lstm, suffix, found, name):
    getattr(lstm, f"weight_ih_l0{suffix}").copy_(found[f"{name}.input"].T)
    getattr(lstm, f"weight_hh_l0{suffix}").copy_(found[f"{name}.recurrent"].T)
    getattr(lstm, f"bias_ih_l0{suffix}").copy_(found[f"{name}.bias"])
    getattr(lstm, f"bias_hh_l0{suffix}").zero_()
