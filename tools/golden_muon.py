"""Reference values from PyTorch for the steps of Muon.

How to run (outside the tree, a few seconds once PyTorch 2.9 or later is there; any CPU will do):

    python3 -m venv VENV
    VENV/bin/pip install torch numpy
    VENV/bin/python tools/golden_muon.py            # writes tests/golden/muon.json

The steps are those of `torch.optim.Muon` in f64, but for what it does to singular values. PyTorch multiplies matrices in
bfloat16; here the matrix is taken apart into singular vectors and values, and the polynomials of `crates/kernels`
(`optimise/muon.rs`) are applied to the values. So the products that Gatto makes are checked by another way to the same end.

Every array is flat and row-major; a matrix is [R, columns].
"""

import torch
from golden_recurrent import flat, random, write
from torch.optim import _muon

ROUNDS = [(8.0935, -23.6209, 17.4464), (3.6368, -2.7221, 0.5366), (2.6616, -1.9774, 0.4526)]


def orthogonal(update, _coefficients, _steps, eps):
    left, values, right = torch.linalg.svd(update, full_matrices=False)
    values = values / update.norm().clamp(min=eps)
    for a, b, c in ROUNDS:
        values = a * values + b * values**3 + c * values**5
    return left @ torch.diag(values) @ right


def case(generator, rows, columns, settings):
    start, *gradients = (random(generator, rows, columns, scale=1.0) for _ in range(4))
    parameter = torch.nn.Parameter(start.clone())
    optimiser = torch.optim.Muon([parameter], nesterov=True, adjust_lr_fn="match_rms_adamw", **settings)
    after = []
    for gradient in gradients:
        parameter.grad = gradient.clone()
        optimiser.step()
        after.append(flat(parameter))
    return {"columns": columns, **settings, "start": flat(start), "gradients": [flat(it) for it in gradients],
            "parameters": after}


def muon():
    _muon._zeropower_via_newtonschulz = orthogonal
    generator = torch.Generator().manual_seed(310)
    return {"cases": [
        case(generator, 4, 6, {"lr": 0.1, "momentum": 0.95, "weight_decay": 0.0}),
        case(generator, 7, 3, {"lr": 0.05, "momentum": 0.9, "weight_decay": 0.1}),
        case(generator, 5, 5, {"lr": 0.1, "momentum": 0.0, "weight_decay": 0.01}),
    ]}


if __name__ == "__main__":
    write(muon)
