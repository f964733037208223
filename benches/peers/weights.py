"""The weights of a run directory, under Gatto's names, and its configuration."""

import math
import pathlib
import tomllib

import numpy
from safetensors.numpy import load_file


def config(directory):
    with open(pathlib.Path(directory) / "config.toml", "rb") as file:
        return tomllib.load(file)


def weights(directory):
    return load_file(str(pathlib.Path(directory) / "model.safetensors"))


def sinusoids(count, width):
    """sin(p / 10000^(2i/C)) and cos in features 2i and 2i + 1."""
    rates = numpy.exp(-math.log(10000.0) * numpy.arange(0, width, 2) / width)
    angles = numpy.arange(count)[:, None] * rates[None, :]
    return numpy.stack([numpy.sin(angles), numpy.cos(angles)], 2).reshape(count, width).astype(numpy.float32)
