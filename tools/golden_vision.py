"""Reference values from PyTorch for what reads images: convolutions, group norm, residual networks, patches and the
positions in a grid, forward and backward.

How to run (outside the tree, a few seconds once PyTorch is there; any CPU will do):

    python3 -m venv VENV
    VENV/bin/pip install torch numpy
    VENV/bin/python tools/golden_vision.py               # writes tests/golden/vision.json

Everything is drawn from fixed seeds and rounded to f32, so that a reader in f32 starts from the very same
numbers; PyTorch then computes in f64, so that the results are exact to the nine digits written.

Every array is an object {"shape": [...], "values": [...]}, flat and row-major. Letters: B images, H rows, W columns,
C channels, O output channels, U × V the window. Images and maps stand with their channels last, [B, H, W, C]; the
weight of a convolution stands as [U·V·C, O]. The loss of a case is Σ y ⊙ G, where G is `gradient_of_y`.

    convolution   x, weight, bias (or none) → y; window = [U, V, stride, padding]
    norm          relu(group_norm(x) · scale + shift + residual), the last two if they are there; ε = 1e-5
    block         relu(norm(f₂ * relu(norm(f₁ * x))) + s(x)); s is x, or the norm of a 1 × 1 convolution of it
    network       a 3 × 3 convolution, its norm and a ReLU, then blocks; the first block of each stage but the first
                  has stride 2
    patches       squares of an image, row by row, each [size, size, C]
    grids         learned positions [rows·columns, C] at the centres of the cells of another grid
                  (torch.nn.functional.interpolate, bilinear, align_corners=False)
    sinusoidal    positions of a grid, half of the features for the row and half for the column

Parameters of blocks and networks have the names of Gatto's modules.
"""

import sys

import torch
import torch.nn.functional as F
from torch import nn

sys.dont_write_bytecode = True  # the import below must leave nothing in the tree
from golden_recurrent import flat, random, write


def array(tensor):
    return {"shape": list(tensor.shape), "values": flat(tensor)}


def last(images):
    """[B, C, H, W] → [B, H, W, C]."""
    return images.permute(0, 2, 3, 1)


def first(images):
    """[B, H, W, C] → [B, C, H, W]."""
    return images.permute(0, 3, 1, 2)


def matrix(weight):
    """[O, C, U, V] → [U·V·C, O]."""
    return weight.permute(2, 3, 1, 0).reshape(-1, weight.shape[0])


def draw(generator, *shape, scale=1.0):
    return random(generator, *shape, scale=scale)


# ---------------------------------------------------------------- convolutions and norms


def convolution_case(generator, size, channels, window, biased):
    (height, width), (inside, outside), (rows, columns, stride, padding) = size, channels, window
    x = draw(generator, 2, height, width, inside).requires_grad_()
    weight = draw(generator, outside, inside, rows, columns, scale=0.3).requires_grad_()
    bias = draw(generator, outside).requires_grad_() if biased else None
    y = last(F.conv2d(first(x), weight, bias, stride=stride, padding=padding))
    upstream = draw(generator, *y.shape)
    (y * upstream).sum().backward()
    case = {"window": list(window), "x": array(x), "weight": array(matrix(weight)), "y": array(y)}
    case |= {"gradient_of_y": array(upstream), "gradient_of_x": array(x.grad)}
    case |= {"gradient_of_weight": array(matrix(weight.grad))}
    if biased:
        case |= {"bias": array(bias), "gradient_of_bias": array(bias.grad)}
    return case


def norm_case(generator, size, channels, groups, residual, relu):
    x = (draw(generator, 2, *size, channels) + 0.5).float().double().requires_grad_()
    scale, shift = (draw(generator, channels).requires_grad_() for _ in range(2))
    added = draw(generator, *x.shape).requires_grad_() if residual else None
    y = last(F.group_norm(first(x), groups, scale, shift, eps=1e-5))
    y = y + added if residual else y
    y = F.relu(y) if relu else y
    upstream = draw(generator, *y.shape)
    (y * upstream).sum().backward()
    inputs = {"x": x, "scale": scale, "shift": shift} | ({"residual": added} if residual else {})
    return {
        "groups": groups,
        "relu": relu,
        **{name: array(value) for name, value in inputs.items()},
        "y": array(y),
        "gradient_of_y": array(upstream),
        **{f"gradient_of_{name}": array(value.grad) for name, value in inputs.items()},
    }


# ---------------------------------------------------------------- residual networks


def convolve(inside, outside, size, stride):
    return nn.Conv2d(inside, outside, size, stride=stride, padding=size // 2, bias=False)


class Shortcut(nn.Module):
    def __init__(self, inside, outside, stride, groups):
        super().__init__()
        self.convolution = convolve(inside, outside, 1, stride)
        self.norm = nn.GroupNorm(groups, outside)

    def forward(self, x):
        return self.norm(self.convolution(x))


class Block(nn.Module):
    def __init__(self, inside, outside, stride, groups):
        super().__init__()
        self.first = convolve(inside, outside, 3, stride)
        self.first_norm = nn.GroupNorm(groups, outside)
        self.second = convolve(outside, outside, 3, 1)
        self.second_norm = nn.GroupNorm(groups, outside)
        same = inside == outside and stride == 1
        self.shortcut = nn.Identity() if same else Shortcut(inside, outside, stride, groups)

    def forward(self, x):
        inner = F.relu(self.first_norm(self.first(x)))
        return F.relu(self.second_norm(self.second(inner)) + self.shortcut(x))


class Network(nn.Module):
    def __init__(self, inside, stem_stride, channels, blocks, groups):
        super().__init__()
        self.stem = convolve(inside, channels[0], 3, stem_stride)
        self.stem_norm = nn.GroupNorm(groups, channels[0])
        self.blocks, width = nn.ModuleList(), channels[0]
        for stage, outside in enumerate(channels):
            for number in range(blocks):
                stride = 2 if stage > 0 and number == 0 else 1
                self.blocks.append(Block(width, outside, stride, groups))
                width = outside

    def forward(self, x):
        x = F.relu(self.stem_norm(self.stem(x)))
        for block in self.blocks:
            x = block(x)
        return x


def ours(name, value):
    """A parameter by the name and in the layout of Gatto's."""
    if value.dim() == 4:
        return name, matrix(value)  # its name ends in `weight` here and there
    head, _, kind = name.rpartition(".")
    return f"{head}.{'scale' if kind == 'weight' else 'shift'}", value


def module_case(generator, module, x):
    module.double()
    with torch.no_grad():
        for parameter in module.parameters():
            depth = parameter[0].numel() if parameter.dim() == 4 else 4
            values = draw(generator, *parameter.shape, scale=(1.5 / depth) ** 0.5)
            parameter.copy_((values + 0.5).float().double() if values.dim() == 1 else values)
    x.requires_grad_()
    y = last(module(first(x)))
    upstream = draw(generator, *y.shape)
    (y * upstream).sum().backward()
    named = [ours(name, parameter.detach()) for name, parameter in module.named_parameters()]
    slopes = [ours(name, parameter.grad) for name, parameter in module.named_parameters()]
    assert (y > 0).any() and (y == 0).any()
    return {
        "x": array(x),
        "parameters": {name: array(value) for name, value in named},
        "y": array(y),
        "gradient_of_y": array(upstream),
        "gradient_of_x": array(x.grad),
        "gradients": {name: array(value) for name, value in slopes},
    }


def block_case(generator, inside, outside, stride, groups):
    case = module_case(generator, Block(inside, outside, stride, groups), draw(generator, 2, 5, 4, inside))
    return {"input": inside, "output": outside, "stride": stride, "groups": groups, **case}


def network_case(generator, stem_stride, channels, blocks, groups, size):
    module = Network(3, stem_stride, channels, blocks, groups)
    case = module_case(generator, module, draw(generator, 2, *size, 3))
    return {"stem_stride": stem_stride, "channels": channels, "blocks": blocks, "groups": groups, **case}


# ---------------------------------------------------------------- patches and positions


def patches_case(generator, height, width, channels, size):
    images = draw(generator, 2, height, width, channels)
    # [B, C·size·size, N], with the channel outermost; ours is innermost.
    unfolded = F.unfold(first(images), size, stride=size)
    squares = unfolded.reshape(2, channels, size * size, -1).permute(0, 3, 2, 1)
    return {"size": size, "images": array(images), "patches": array(squares.reshape(2, -1, size * size * channels))}


def grid_case(generator, own, other, width):
    weight = draw(generator, own[0] * own[1], width).requires_grad_()
    table = weight.reshape(1, *own, width)
    found = F.interpolate(first(table), size=other, mode="bilinear", align_corners=False)
    found = last(found).reshape(-1, width)
    upstream = draw(generator, *found.shape)
    (found * upstream).sum().backward()
    case = {"own": list(own), "other": list(other), "weight": array(weight), "positions": array(found)}
    return case | {"gradient_of_positions": array(upstream), "gradient_of_weight": array(weight.grad)}


def sinusoidal_case(rows, columns, width):
    def waves(count, features):
        angles = torch.arange(count).double().unsqueeze(1) / 10000 ** (torch.arange(0, features, 2) / features).double()
        return torch.stack([angles.sin(), angles.cos()], 2).reshape(count, -1)[:, :features]

    down, along = waves(rows, width // 2), waves(columns, width - width // 2)
    down = down.unsqueeze(1).expand(rows, columns, -1)
    along = along.unsqueeze(0).expand(rows, columns, -1)
    return {"rows": rows, "columns": columns, "width": width, "positions": array(torch.cat([down, along], 2))}


# ---------------------------------------------------------------- writing


def vision():
    generator = torch.Generator().manual_seed(730)
    convolutions = [
        ((5, 6), (3, 4), (3, 3, 1, 1), False),
        ((5, 6), (3, 4), (3, 3, 2, 1), True),
        ((6, 7), (2, 3), (2, 3, 1, 0), True),
        ((7, 5), (2, 3), (3, 2, 3, 2), False),
        ((5, 5), (4, 5), (1, 1, 1, 0), True),
        ((5, 6), (4, 3), (1, 1, 2, 0), False),
    ]
    norms = [((4, 5), 6, 3, False, False), ((4, 5), 6, 2, False, True), ((3, 3), 8, 4, True, True)]
    norms += [((3, 2), 4, 4, True, False)]
    grids = [((3, 4), (5, 7)), ((4, 3), (2, 3)), ((2, 2), (6, 1))]
    return {
        "convolutions": [convolution_case(generator, *case) for case in convolutions],
        "norms": [norm_case(generator, *case) for case in norms],
        "blocks": [block_case(generator, *case) for case in [(4, 4, 1, 2), (4, 6, 2, 3), (4, 6, 1, 2)]],
        "networks": [
            network_case(generator, 2, [4, 4, 6], 1, 2, (12, 9)),
            network_case(generator, 1, [2, 4], 2, 2, (6, 7)),
        ],
        "patches": [patches_case(generator, 4, 6, 3, 2), patches_case(generator, 6, 3, 1, 3)],
        "grids": [grid_case(generator, own, other, 3) for own, other in grids],
        "sinusoidal": [sinusoidal_case(3, 4, 8), sinusoidal_case(2, 3, 10)],
    }


if __name__ == "__main__":
    write(vision)
