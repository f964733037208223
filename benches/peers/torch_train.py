"""Updates with PyTorch on given batches: the other side of `peers train`."""

import torch
import torch.nn.functional as F

import rounds
import weights
from torch_recurrent import Recurrent
from torch_transformer import PAD, START, Transformer


def padded(rows):
    width = max(map(len, rows))
    return torch.tensor([row + [PAD] * (width - len(row)) for row in rows])


def batch(rows):
    """Source, decoder's input, target, and the lengths of the sources where they differ."""
    source, target = padded(rows["source"]), padded(rows["target"])
    inputs = torch.cat([torch.full_like(target[:, :1], START), target[:, :-1]], 1)
    lengths = torch.tensor([len(row) for row in rows["source"]])
    return source, inputs, target, lengths if int(lengths.min()) < source.size(1) else None


def main():
    before, settings = rounds.held(), rounds.settings()
    torch.set_num_threads(settings["threads"])
    torch.manual_seed(1)
    config = weights.config(settings["model"])
    model = (Recurrent if "lstm" in config["encoder"] else Transformer)(config)
    with torch.no_grad():
        model.take({name: torch.from_numpy(value) for name, value in weights.weights(settings["model"]).items()})
    model.train()
    train = config["train"]
    parameters = list(model.parameters())
    optimiser = torch.optim.Adam(parameters, lr=train["learning_rate"], **{settings["adam"]: True})
    batches = [batch(rows) for rows in rounds.read(settings["data"])]

    def loss_of(source, inputs, target, lengths):
        scores = model(source, inputs, lengths)
        return F.cross_entropy(
            scores.flatten(0, 1), target.flatten(), ignore_index=PAD, label_smoothing=train["label_smoothing"]
        )

    if settings.get("compile"):
        loss_of = torch.compile(loss_of)

    def update(number):
        optimiser.zero_grad(set_to_none=True)
        loss = loss_of(*batches[number])
        loss.backward()
        torch.nn.utils.clip_grad_norm_(parameters, train["clip"])
        optimiser.step()
        return loss.item()

    rounds.rounds(len(batches), settings["seconds"], update, before)


if __name__ == "__main__":
    main()
