"""How long sacreBLEU takes for each metric: the other side of `cargo bench -p gatto-metrics --bench translation`.

    VENV/bin/python tools/peer_metrics.py OUTPUT REFERENCE FEW

reads two files of as many lines and writes one line of JSON for each metric, with the seconds that it took to score
what was read already, and the line that sacreBLEU prints. The interval is of the first FEW lines. The seconds are
those of the processor, which for a program of one thread are what passes on a machine that does nothing else.
"""

import json
import pathlib
import sys
import time

from sacrebleu.metrics import BLEU, CHRF, TER

SAMPLES = 1000


def lines(path):
    return pathlib.Path(path).read_text(encoding="utf-8").split("\n")[:-1]


def main():
    output, reference, few = lines(sys.argv[1]), lines(sys.argv[2]), int(sys.argv[3])
    rows = [
        ("BLEU 13a", BLEU(), len(output), 1),
        ("BLEU intl", BLEU(tokenize="intl"), len(output), 1),
        ("chrF", CHRF(), len(output), 1),
        ("chrF++", CHRF(word_order=2), len(output), 1),
        ("TER", TER(), len(output), 1),
        ("BLEU interval", BLEU(), few, SAMPLES),
    ]
    for name, metric, count, samples in rows:
        start = time.process_time()
        score = metric.corpus_score(output[:count], [reference[:count]], n_bootstrap=samples)
        seconds = time.process_time() - start
        print(json.dumps({"name": name, "seconds": seconds, "text": score.format()}), flush=True)


if __name__ == "__main__":
    main()
