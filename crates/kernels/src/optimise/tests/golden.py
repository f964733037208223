"""Writes golden.rs: parameters after each of four steps of PyTorch's optimisers."""

import torch

START = [0.5, -1.25, 3.0, 1e-3, -0.1]


def run(make):
    param = torch.tensor(START, requires_grad=True)
    optimiser = make([param])
    rows = []
    for step in range(4):
        param.grad = torch.tensor([0.3, -2.0, 0.01, 5.0, -0.7]) * (step + 1) * 0.5
        optimiser.step()
        rows.append(param.detach().clone())
    return rows


CASES = {
    "ADAM": lambda p: torch.optim.Adam(p, lr=0.01, foreach=False),
    "ADAM_L2": lambda p: torch.optim.Adam(p, lr=0.01, betas=(0.8, 0.98), eps=1e-9, weight_decay=0.1, foreach=False),
    "ADAMW": lambda p: torch.optim.AdamW(p, lr=0.01, betas=(0.9, 0.98), weight_decay=0.1, foreach=False),
    "SGD": lambda p: torch.optim.SGD(p, lr=0.1, weight_decay=0.01, foreach=False),
    "MOMENTUM": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, dampening=0.2, foreach=False),
    "NESTEROV": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.01, foreach=False),
}

print(f"//! Written by `golden.py` with PyTorch {torch.__version__}: parameters after each of four steps.")
for name, make in CASES.items():
    print(f"\npub(super) const {name}: [[f32; 5]; 4] = [")
    for row in run(make):
        print("    [" + ", ".join(format(v, ".9g") if "." in format(v, ".9g") or "e" in format(v, ".9g") else format(v, ".1f") for v in row.tolist()) + "],")
    print("];")
