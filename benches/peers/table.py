"""Figures and how they are printed: Markdown, as it stands in the book."""

import statistics

UNITS = {"train": "ms/step", "decode": "tokens/s", "classify": "ms", "hear": "× real time", "cold": "ms"}


def figure(work, seconds):
    """Seconds of a call in the unit of the work."""
    if work.kind == "hear":
        return work.rows * work.source / seconds
    return work.tokens / seconds if work.kind == "decode" else 1e3 * seconds


def agreement(work, ours, theirs):
    """How far the first results are the same: of all tokens or labels, or of the mean loss."""
    if work.kind == "train":
        mean, other = statistics.fmean(ours), statistics.fmean(theirs)
        return f"loss {other / mean - 1:+.1%}"
    if work.kind == "classify":
        pairs = [pair for call in zip(ours, theirs) for pair in zip(*call)]
        same = sum(mine.index(max(mine)) == other.index(max(other)) for mine, other in pairs)
        far = max(abs(a - b) for mine, other in pairs for a, b in zip(mine, other))
        return f"{same / len(pairs):.0%} of labels, probabilities within {far:.0e}"
    flat = [[token for call in calls for row in call for token in row] for calls in (ours, theirs)]
    same = sum(mine == other for mine, other in zip(*flat))
    return f"{same / max(map(len, flat)):.0%} of tokens"


def compared(rows):
    """Gives every row of a peer its ratio to our row of the same precision, or else to our first."""
    ours = [row for row in rows if row["side"] == "Gatto"]
    for row in rows:
        same = [mine for mine in ours if mine["precision"] == row["precision"]]
        mine = (same or ours or [None])[0]
        if mine is None or row["side"] == "Gatto":
            continue
        row["against"] = mine["precision"]
        row["ratio"] = row["seconds"] / mine["seconds"]
        row["memory_share"] = mine["peak_bytes"] / row["peak_bytes"]
    return rows


def number(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}"


def memory(row):
    """The peak, and what libraries alone take of it."""
    before = row.get("before_bytes", 0)
    return number(row["peak_bytes"] / 2**20) + (f" ({number(before / 2**20)} before)" if before else "")


def line(cells):
    return "| " + " | ".join(cells) + " |"


def block(work, rows):
    """The table of one work."""
    unit = UNITS[work.kind]
    head = ["", "setting", unit, "least – most", "Gatto is faster", "peak MiB", "Gatto needs", "agrees"]
    lines = [f"\n**{work.name}** {work.title}\n", line(head), line(["---"] * 2 + ["---:"] * 5 + ["---"])]
    for row in rows:
        figures = sorted(figure(work, seconds) for seconds in row["rounds"])
        ratio = f"{row['ratio']:.2f} ×" if "ratio" in row else ""
        if ratio and row["against"] != row["precision"]:
            ratio += f" in {row['against']}"
        lines.append(line([
            row["side"] if work.kind == "train" else f"{row['side']} {row['precision']}",
            row["setting"],
            number(figure(work, row["seconds"])),
            f"{number(figures[0])} – {number(figures[-1])}",
            ratio,
            memory(row),
            f"{row['memory_share']:.0%}" if "memory_share" in row else "",
            row.get("agrees", ""),
        ]))
    return "\n".join(lines)


def summary(results):
    """One line for each work: ours beside the best peer of the same precision."""
    head = ["work", "unit", "Gatto", "best peer", "", "Gatto is faster"]
    lines = ["", line(head), line(["---", "---", "---:", "---", "---:", "---:"])]
    for work, rows in results:
        for mine in (row for row in rows if row["side"] == "Gatto"):
            peers = [row for row in rows if row.get("against") == row["precision"] == mine["precision"]]
            if not peers:
                continue
            best = min(peers, key=lambda row: row["seconds"])
            precision = "" if work.kind == "train" else f", {mine['precision']}"
            lines.append(line([
                f"{work.name} {work.title}{precision}",
                UNITS[work.kind],
                number(figure(work, mine["seconds"])),
                best["side"],
                number(figure(work, best["seconds"])),
                f"{best['ratio']:.2f} ×",
            ]))
    return "\n".join(lines)
