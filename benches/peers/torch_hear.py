"""Transcripts of recordings with PyTorch: the other side of `peers hear`."""

import torch

import rounds
import torch_sounds
import weights
from torch_transformer import START
from works import END


def main():
    before, settings = rounds.held(), rounds.settings()
    torch.set_num_threads(settings["threads"])
    config = weights.config(settings["model"])
    found = {name: torch.from_numpy(value) for name, value in weights.weights(settings["model"]).items()}
    model = torch_sounds.build(config, found).eval()
    calls = list(torch_sounds.recordings(settings["data"]))

    @torch.inference_mode()
    def hear(number):
        return [model.spell(samples, settings["length"], START, END) for samples in calls[number]]

    rounds.rounds(len(calls), settings["seconds"], hear, before)


if __name__ == "__main__":
    main()
