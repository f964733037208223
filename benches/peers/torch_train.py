"""Updates with PyTorch on given batches: the other side of `peers train`."""

import torch
import torch.nn.functional as F

import rounds
import torch_images
import torch_sounds
import weights
from torch_recurrent import Recurrent
from torch_transformer import PAD, START, Transformer


def padded(rows):
    width = max(map(len, rows))
    return torch.tensor([row + [PAD] * (width - len(row)) for row in rows])


def behind_start(target):
    """What a decoder reads."""
    return torch.cat([torch.full_like(target[:, :1], START), target[:, :-1]], 1)


def of_texts(data):
    """What a model reads of each batch, and the target: source, decoder's input, and the lengths of the sources where
    they differ."""
    for rows in rounds.read(data):
        source, target = padded(rows["source"]), padded(rows["target"])
        lengths = torch.tensor([len(row) for row in rows["source"]])
        yield (source, behind_start(target), lengths if int(lengths.min()) < source.size(1) else None), target


def of_images(data, config, channels_last):
    """The same of images, and of captions where these are written."""
    for images, target in torch_images.pieces(data, config):
        if not channels_last:
            images = images.permute(0, 3, 1, 2).contiguous().permute(0, 2, 3, 1)
        yield (images, behind_start(target)) if config["task"] == "caption" else (images,), target


def of_sounds(data, config):
    """The same of recordings: frames, decoder's input, and lengths."""
    for frames, lengths, rows in torch_sounds.pieces(data, config):
        target = padded(rows)
        yield (frames, behind_start(target), lengths), target


def batches_of(settings, config):
    data = settings["data"]
    if "images" in config:
        return list(of_images(data, config, settings["channels_last"]))
    return list(of_sounds(data, config) if "sound" in config else of_texts(data))


def build(settings, config):
    found = {name: torch.from_numpy(value) for name, value in weights.weights(settings["model"]).items()}
    if "images" in config:
        model = torch_images.build(config, found)
        return model.to(memory_format=torch.channels_last) if settings["channels_last"] else model
    if "sound" in config:
        return torch_sounds.build(config, found)
    model = (Recurrent if "lstm" in config["encoder"] else Transformer)(config)
    with torch.no_grad():
        model.take(found)
    return model


def main():
    before, settings = rounds.held(), rounds.settings()
    torch.set_num_threads(settings["threads"])
    torch.manual_seed(1)
    config = weights.config(settings["model"])
    model = build(settings, config).train()
    train = config["train"]
    parameters = list(model.parameters())
    kind = torch.optim.AdamW if train.get("optimiser") == "adamw" else torch.optim.Adam
    optimiser = kind(
        parameters, lr=train["learning_rate"], weight_decay=train.get("weight_decay", 0.0), **{settings["adam"]: True}
    )
    batches = batches_of(settings, config)
    # Labels count from zero, and none of them stands for nothing.
    losses = {"ignore_index": -100 if config["task"] == "classify" else PAD,
              "label_smoothing": train.get("label_smoothing", 0.0)}

    def loss_of(read, target):
        return F.cross_entropy(model(*read).flatten(0, -2), target.flatten(), **losses)

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
