"""Translations by a recurrent model in PyTorch, step by step: the other side of `peers decode`, since CTranslate2 and
Hugging Face have no such models. Every row writes `length` tokens, of which only the last may be the end."""

import torch

import rounds
import weights
from torch_recurrent import Recurrent

START, END = 1, 2


def greedy(model, source, length):
    memory, state = model.encode(source)
    tokens = torch.full((source.size(0),), START)
    written = []
    for step in range(length):
        scores, state = model.step(tokens, memory, state)
        if step + 1 < length:
            scores[:, END] = float("-inf")
        tokens = scores.argmax(1)
        written.append(tokens)
    return torch.stack(written, 1).tolist()


def beam_search(model, source, length, beam):
    """The best of `beam` hypotheses of each sentence; all are equally long."""
    rows = source.size(0)
    memory, state = model.encode(source)
    memory = tuple(part if part is None else part.repeat_interleave(beam, 0) for part in memory)
    state = tuple(part.repeat_interleave(beam, 0) for part in state)
    tokens = torch.full((rows * beam,), START)
    sums = torch.full((rows, beam), float("-inf"))
    sums[:, 0] = 0.0
    first = torch.arange(0, rows * beam, beam)[:, None]
    written = torch.empty((rows * beam, 0), dtype=torch.long)
    for step in range(length):
        scores, state = model.step(tokens, memory, state)
        if step + 1 < length:
            scores[:, END] = float("-inf")
        size = scores.size(1)
        candidates = (scores.log_softmax(1).view(rows, beam, size) + sums[:, :, None]).flatten(1)
        sums, places = candidates.topk(beam, 1)
        parents = (first + places // size).flatten()  # keys and states belong to a sentence and stay where they are
        state = tuple(part[parents] for part in state)
        tokens = (places % size).flatten()
        written = torch.cat([written[parents], tokens[:, None]], 1)
    return written[::beam].tolist()


@torch.inference_mode()
def main():
    before, settings = rounds.held(), rounds.settings()
    torch.set_num_threads(settings["threads"])
    model = Recurrent(weights.config(settings["model"]))
    model.take({name: torch.from_numpy(value) for name, value in weights.weights(settings["model"]).items()})
    model.eval()
    calls = [torch.tensor([row + [END] for row in call]) for call in rounds.read(settings["data"])]
    length, beam = settings["length"], settings["beam"]

    def translate(number):
        if beam == 1:
            return greedy(model, calls[number], length)
        return beam_search(model, calls[number], length, beam)

    rounds.rounds(len(calls), settings["seconds"], translate, before)


if __name__ == "__main__":
    main()
