"""Labels of images with PyTorch: the other side of `peers classify`."""

from concurrent.futures import ThreadPoolExecutor

import torch

import rounds
import torch_images
import weights


def main():
    before, settings = rounds.held(), rounds.settings()
    hands = settings["hands"]
    alone = max(settings["threads"] // hands, 1)
    torch.set_num_threads(alone)
    torch.backends.mha.set_fastpath_enabled(settings["fast"])
    config = weights.config(settings["model"])
    found = {name: torch.from_numpy(value) for name, value in weights.weights(settings["model"]).items()}
    model = torch_images.build(config, found).eval()
    if settings.get("compile"):
        model = torch.compile(model)
    calls = [images for images, _ in torch_images.pieces(settings["data"], config)]

    def tell(images):
        with torch.inference_mode():  # which every thread decides for itself
            return model(images).softmax(1)

    with ThreadPoolExecutor(hands, initializer=torch.set_num_threads, initargs=(alone,)) as pool:
        each = map if hands == 1 else pool.map

        def classify(number):
            return torch.cat(list(each(tell, calls[number].split(settings["together"])))).tolist()

        rounds.rounds(len(calls), settings["seconds"], classify, before)


if __name__ == "__main__":
    main()
