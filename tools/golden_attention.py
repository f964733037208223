"""Reference values from PyTorch for attention: every score, local focus and coverage, forward and backward.

How to run (outside the tree, a few seconds once PyTorch is there; any CPU will do):

    python3 -m venv VENV
    VENV/bin/pip install torch numpy
    VENV/bin/python tools/golden_attention.py            # writes tests/golden/attention.json

Everything is drawn from fixed seeds and rounded to f32, so that a reader in f32 starts from the very same
numbers; PyTorch then computes in f64, so that the results are exact to the nine digits written. Each case is
then computed once more from what is written, one position at a time and without PyTorch, gradients included.

Every array is an object {"shape": [...], "values": [...]}, flat and row-major. Letters: B sentences, T queries,
S positions, Q width of a query, H width of a state, A width of attention, P the most positions that the score
`location` can address. Matrices stand as [in, out], x·W rather than W·x. For a query s and the states h_i:

    additive     e_i = v · tanh(s w_q + h_i w_k)                w_q [Q, A], w_k [H, A], v [A]
    general      e_i = s · (h_i w_k)                            w_k [H, Q]
    dot          e_i = s · k_i                                  k_i = h_i w_k, w_k [H, Q]
    scaled-dot   e_i = s · k_i / √Q                             as dot
    cosine       e_i = exp(γ) s·k_i / √((|s|² + ε)(|k_i|² + ε)) as dot; gamma [1], ε = 1e-6
    location     e_i = (s w)_i                                  w [Q, P]

where the names in `-equal` have H = Q and no projection, k_i = h_i. Focus, over positions that exist:

    soft             α = softmax(e)
    local-predicted  p = length · sigmoid(v_p · tanh(s w_p)), w_p [Q, A], v_p [A];
                     α = softmax(e_i − (i − p)² / (2 (D/2)²)) over |i − p| ≤ D, D the window
    local-monotone   p = min(t, length − 1) for query t; α = softmax(e) over |i − p| ≤ D

With coverage (additive, soft) position i adds w_c [A] times the sum of its weights in all earlier queries to its
key; gradients run through that sum. The context of a query is Σ α_i h_i, and the loss Σ context ⊙ G, where G
is `gradient_of_context`. Weights outside the focus are exactly zero; `centre` [B, T] among the outputs is p.
"""

import sys

import numpy as np
import torch

sys.dont_write_bytecode = True  # the import below must leave nothing in the tree
from golden_recurrent import flat, random, write

BATCH, QUERIES, POSITIONS, LENGTHS = 3, 4, 5, [5, 3, 1]
QUERY, STATE, ATTENTION, MOST_POSITIONS = 4, 6, 3, 8
WINDOW, EPSILON = 2, 1e-6

# ---------------------------------------------------------------- attention, all queries at once


def keys(states, weights):
    return states @ weights["w_k"] if "w_k" in weights else states  # [B, S, A or Q]


def scores(score, query, keys, weights):
    """[B, T, S] from [B, T, Q] and [B, S, A or Q]."""
    if score == "additive":
        q = query @ weights["w_q"]  # [B, T, A]
        return torch.tanh(q.unsqueeze(2) + keys.unsqueeze(1)) @ weights["v"]
    if score == "location":
        return (query @ weights["w"])[..., :POSITIONS]
    dot = query @ keys.transpose(1, 2)
    if score == "scaled-dot":
        return dot / query.shape[2] ** 0.5
    if score == "cosine":
        squares = lambda x: (x * x).sum(2) + EPSILON
        norms = (squares(query).unsqueeze(2) * squares(keys).unsqueeze(1)).sqrt()
        return torch.exp(weights["gamma"]) * dot / norms
    return dot


def centres(focus, query, weights):
    """The position [B, T] that each query looks around, if it does."""
    lengths = torch.tensor(LENGTHS).double().unsqueeze(1)
    if focus == "local-predicted":
        return lengths * torch.sigmoid(torch.tanh(query @ weights["w_p"]) @ weights["v_p"])
    if focus == "local-monotone":
        return torch.minimum(torch.arange(QUERIES).double().expand(BATCH, -1), lengths - 1)
    return None


def attend(focus, energies, mask, centre):
    """Weights [B, T, S] over the positions in focus."""
    seen = mask.bool().unsqueeze(1).expand_as(energies)
    if centre is not None:
        distance = torch.arange(POSITIONS).double() - centre.unsqueeze(2)  # [B, T, S]
        seen = seen & (distance.abs() <= WINDOW)
        if focus == "local-predicted":
            energies = energies - distance**2 / (2 * (WINDOW / 2) ** 2)
    return torch.softmax(energies.masked_fill(~seen, -torch.inf), dim=2)


def attend_with_coverage(query, keys, mask, weights):
    covered, steps = torch.zeros(BATCH, POSITIONS).double(), []
    for t in range(QUERIES):
        told = keys + covered.unsqueeze(2) * weights["w_c"]  # [B, S, A]
        step = attend("soft", scores("additive", query[:, t : t + 1], told, weights), mask, None)
        steps.append(step)
        covered = covered + step.squeeze(1)
    return torch.cat(steps, dim=1)


# ---------------------------------------------------------------- a case


def weight_shapes(score, focus, coverage, equal):
    shapes = {}
    if score == "additive":
        shapes = {"w_k": [STATE, ATTENTION], "w_q": [QUERY, ATTENTION], "v": [ATTENTION]}
    elif score == "location":
        shapes = {"w": [QUERY, MOST_POSITIONS]}
    elif not equal:
        shapes = {"w_k": [STATE, QUERY]}
    if score == "cosine":
        shapes["gamma"] = [1]
    if focus == "local-predicted":
        shapes |= {"w_p": [QUERY, ATTENTION], "v_p": [ATTENTION]}
    if coverage:
        shapes["w_c"] = [ATTENTION]
    return shapes


def array(tensor):
    return {"shape": list(tensor.shape), "values": flat(tensor + 0.0)}  # + 0.0: no negative zeros


def attention_case(name, score, focus="soft", coverage=False, equal=False, *, seed):
    generator = torch.Generator().manual_seed(seed)
    draw = lambda *shape, scale=1.0: random(generator, *shape, scale=scale)
    width = QUERY if equal else STATE
    mask = torch.tensor([[float(i < length) for i in range(POSITIONS)] for length in LENGTHS]).double()

    # The states that do not exist are not zero: a reader that lets them in is found out.
    inputs = {"query": draw(BATCH, QUERIES, QUERY), "states": draw(BATCH, POSITIONS, width)}
    # Products of long vectors would saturate the softmax, and hide the gradients.
    scale = {"w_k": 1.0 if score == "additive" else 0.5}
    shapes = weight_shapes(score, focus, coverage, equal)
    weights = {key: draw(*shape, scale=scale.get(key, 1.0)) for key, shape in shapes.items()}
    upstream = draw(BATCH, QUERIES, width)
    for tensor in (*inputs.values(), *weights.values()):
        tensor.requires_grad_()

    query, states = inputs["query"], inputs["states"]
    centre = centres(focus, query, weights)
    if coverage:
        alpha = attend_with_coverage(query, keys(states, weights), mask, weights)
    else:
        energies = scores(score, query, keys(states, weights), weights)
        alpha = attend(focus, energies, mask, centre)
    context = alpha @ states  # [B, T, H]
    loss = (context * upstream).sum()
    loss.backward()

    outputs = {"weights": alpha, "context": context}
    if centre is not None:
        outputs["centre"] = centre
    case = {
        "name": name,
        "score": score,
        "focus": focus,
        "coverage": coverage,
        "window": WINDOW if centre is not None else None,
        "epsilon": EPSILON if score == "cosine" else None,
        "lengths": LENGTHS,
        "inputs": {key: array(tensor) for key, tensor in {**inputs, "mask": mask}.items()},
        "weights": {key: array(tensor) for key, tensor in weights.items()},
        "gradient_of_context": array(upstream),
        "loss": flat(loss)[0],
        "outputs": {key: array(tensor) for key, tensor in outputs.items()},
        "gradients": {key: array(tensor.grad) for key, tensor in {**inputs, **weights}.items()},
    }
    check_case(case)
    return case


# ---------------------------------------------------------------- the same once more, one position at a time


def plain(case, given):
    """Weights, context and centres by the equations at the head of this file, in loops."""
    s, h = given["query"], given["states"]
    alpha, context = np.zeros((BATCH, QUERIES, POSITIONS)), np.zeros((BATCH, QUERIES, h.shape[2]))
    centre = np.zeros((BATCH, QUERIES))
    for b, length in enumerate(LENGTHS):
        covered = np.zeros(POSITIONS)
        for t in range(QUERIES):
            energies, p = {}, None
            if case["focus"] == "local-predicted":
                p = length / (1 + np.exp(-given["v_p"] @ np.tanh(s[b, t] @ given["w_p"])))
            elif case["focus"] == "local-monotone":
                p = min(t, length - 1)
            for i in range(length):
                if p is not None and abs(i - p) > WINDOW:
                    continue
                energies[i] = plain_score(case, given, s[b, t], h[b, i], i, covered[i])
                if case["focus"] == "local-predicted":
                    energies[i] -= (i - p) ** 2 / (2 * (WINDOW / 2) ** 2)
            total = sum(np.exp(energy) for energy in energies.values())
            for i, energy in energies.items():
                alpha[b, t, i] = np.exp(energy) / total
                context[b, t] += alpha[b, t, i] * h[b, i]
            covered += alpha[b, t]
            centre[b, t] = 0 if p is None else p
    return alpha, context, centre


def plain_score(case, given, s, h, i, covered):
    k = h @ given["w_k"] if "w_k" in given else h
    if case["score"] == "additive":
        k = k + covered * given["w_c"] if case["coverage"] else k
        return sum(given["v"] * np.tanh(s @ given["w_q"] + k))
    if case["score"] == "location":
        return s @ given["w"][:, i]
    if case["score"] == "scaled-dot":
        return s @ k / np.sqrt(len(s))
    if case["score"] == "cosine":
        return np.exp(given["gamma"][0]) * (s @ k) / np.sqrt((s @ s + EPSILON) * (k @ k + EPSILON))
    return s @ k


def check_case(case):
    """Computes outputs once more from what is written, and gradients by finite differences."""
    read = lambda entry: np.array(entry["values"]).reshape(entry["shape"])
    given = {key: read(entry) for key, entry in {**case["inputs"], **case["weights"]}.items()}
    upstream, name = read(case["gradient_of_context"]), case["name"]
    alpha, context, centre = plain(case, given)
    written = read(case["outputs"]["weights"])
    assert np.allclose(alpha, written, atol=1e-7) and np.array_equal(alpha == 0, written == 0), name
    assert np.allclose(context, read(case["outputs"]["context"]), atol=1e-7), name
    if case["window"] is not None:
        assert np.allclose(centre, read(case["outputs"]["centre"]), atol=1e-7), name
        check_windows(name, centre, alpha)

    step = 1e-5
    for key, entry in case["gradients"].items():
        gradient, value = read(entry), given[key]
        for at in np.ndindex(value.shape):
            losses, kept = [], value[at]
            for moved in (kept + step, kept - step):
                value[at] = moved
                losses.append((plain(case, given)[1] * upstream).sum())
            value[at] = kept
            slope = (losses[0] - losses[1]) / (2 * step)
            assert np.isclose(slope, gradient[at], rtol=1e-5, atol=1e-6), (name, key, at, slope, gradient[at])
        assert gradient.any(), (name, key)


def check_windows(name, centre, alpha):
    """A window must leave something out; and f32 must see the same window, so no edge lies on a position."""
    lengths = np.array(LENGTHS)[:, None, None]
    exists = np.broadcast_to(np.arange(POSITIONS) < lengths, alpha.shape)
    assert (alpha[exists] == 0).any(), name
    edges = np.abs(np.abs(np.arange(POSITIONS) - centre[:, :, None]) - WINDOW)[exists]
    assert name == "local-monotone" or edges.min() > 0.01, (name, edges.min())


# ---------------------------------------------------------------- writing


def attention():
    kinds = [
        ("additive", "additive", {}),
        ("general", "general", {}),
        ("dot", "dot", {}),
        ("dot-equal", "dot", {"equal": True}),
        ("scaled-dot", "scaled-dot", {}),
        ("scaled-dot-equal", "scaled-dot", {"equal": True}),
        ("cosine", "cosine", {}),
        ("cosine-equal", "cosine", {"equal": True}),
        ("location", "location", {}),
        ("local-predicted", "additive", {"focus": "local-predicted"}),
        ("local-monotone", "additive", {"focus": "local-monotone"}),
        ("coverage", "additive", {"coverage": True}),
    ]
    return {
        "batch": BATCH,
        "queries": QUERIES,
        "positions": POSITIONS,
        "cases": [
            attention_case(name, score, **options, seed=560 + at)
            for at, (name, score, options) in enumerate(kinds)
        ],
    }


if __name__ == "__main__":
    write(attention)
