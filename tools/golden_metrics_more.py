"""Reference values for metrics other than BLEU, chrF and TER, each from the program that people compare with.

How to run (outside the tree, a few seconds; any CPU will do):

    python3 -m venv VENV
    VENV/bin/pip install jiwer rouge-score scikit-learn seqeval numpy scipy
    VENV/bin/python tools/golden_metrics_more.py         # writes tests/golden/metrics_more.json

What is in the file, by key:

    errors          jiwer: substitutions, deletions, insertions and length of each line (of several references
                    the one with the lowest rate, the first of equals), and the rate of the corpus
    stems           NLTK's Porter stemmer as rouge-score uses it: word, stem
    rouge           rouge-score: for each line [P, R, F] of ROUGE-1, -2, -L and -Lsum, and their means
    classification  scikit-learn: [P, R, F, count] of each label, averages, and the confusion matrix, a row for
                    each reference and a column for each answer
    spans           seqeval, its default mode and its strict mode: [P, R, F, count] of each type, and averages
    calibration     numpy, by the definitions: bins, expected and maximum error, Brier score
    wilson          SciPy: right, total, and the ends of Wilson's interval
    bootstrap       numpy: the 2.5 % and 97.5 % quantiles of a ratio over all n^n draws of n examples

A figure whose denominator is zero is zero. All texts were made for this file, the random ones from a fixed seed.
"""

import importlib.metadata
import itertools
import json
import pathlib
import random
import warnings
from collections import Counter

import jiwer
import nltk
import numpy as np
from rouge_score import rouge_scorer
from scipy.stats import binomtest
from seqeval.metrics import sequence_labeling, v1
from seqeval.scheme import IOB2, IOBES
from sklearn import metrics as sklearn_metrics

warnings.filterwarnings("ignore")  # of figures that are not defined, and zero here
FOLDER = pathlib.Path(__file__).resolve().parent.parent / "tests" / "golden"
PACKAGES = ["jiwer", "rouge-score", "nltk", "scikit-learn", "seqeval", "numpy", "scipy"]
RANDOM = random.Random(20)

TEXTS = [
    # output, references
    ("", [""]),
    ("", ["the cat is on the table"]),
    ("the cat is on the table", [""]),
    ("   ", ["\u3000\u3000", "a"]),
    ("the cat is on the table", ["the cat is on the table"]),
    ("The cat sits on a table.", ["the cat is on the table"]),
    ("il gatto è sul tavolo", ["Il gatto è sul tavolo .", "il gatto sta sul tavolo", "un gatto siede"]),
    ("the the the the cat", ["the cat the", "the the cat"]),
    ("  many   spaces  between  ", ["many spaces between"]),
    ("a b c d", ["b c x d", "a b c d e f g h"]),
    ("x y", ["a", "a b", "a b c"]),
    ("katze", ["Kätzchen"]),
    ("Größe, Straße; »Zitat« – »Ende«", ["größe strasse zitat ende"]),
    ("кошка лежит на столе", ["Кошка сидит на столе!", "кошка на столе"]),
    ("ΟΔΥΣΣΕΥΣ ΣΟΦΟΣ", ["Οδυσσεύς σοφός"]),
    ("猫がテーブルの上にいる。", ["猫はテーブルの上にいます。", "猫 が いる"]),
    ("القطة على الطاولة", ["القطة فوق الطاولة؟"]),
    ("बिल्ली मेज पर है", ["बिल्ली मेज़ पर है।"]),
    ("I ❤️ 🐈‍⬛ cats 👍🏽", ["I ❤ 🐈 cats 👍", "i love cats"]),
    ("cafe\u0301 naïve", ["café nai\u0308ve"]),
    ("It's 3.5 kg — isn't it?", ["It is 3,5 kg, isn’t it"]),
    ("new-line\nin the\n\nmiddle", ["new line in the middle", "in the middle\nnew-line"]),
]
PHONEMES = [
    ("dh ax k ae t", ["dh ax k ae t s"]),
    ("DH AH0 K AE1 T", ["DH AH0 K AH0 T", "DH IY0 K AE1 T"]),
    ("ð ə k æ t ɪ z", ["ð ə kʰ æ t ɪ z ɒ n"]),
    ("", ["s"]),
    ("i l ɡ a tː o", ["i l ɡ a t o", "ɡ a tː o"]),
]


def random_text(words, least, most):
    return " ".join(RANDOM.choice(words) for _ in range(RANDOM.randint(least, most)))


def random_lines(words, count, most, references=1):
    text = lambda: random_text(words, 0, most)
    return [(text(), [text() for _ in range(RANDOM.randint(1, references))]) for _ in range(count)]


# ---------------------------------------------------------------- error rates


def measure_errors(unit, lowercase, strip_punctuation, output, reference):
    steps = [jiwer.ToLowerCase()] if lowercase else []
    steps += [jiwer.RemovePunctuation()] if strip_punctuation else []
    if unit == "characters":
        steps = jiwer.Compose([*steps, jiwer.Strip(), jiwer.ReduceToListOfListOfChars()])
        found = jiwer.process_characters(reference, output, steps, steps)
        rate = found.cer
    else:
        words = [jiwer.RemoveMultipleSpaces(), jiwer.Strip(), jiwer.ReduceToListOfListOfWords()]
        steps = jiwer.Compose([*steps, *words])
        found = jiwer.process_words(reference, output, steps, steps)
        rate = found.wer
    length = found.hits + found.substitutions + found.deletions
    return rate, [found.substitutions, found.deletions, found.insertions, length]


def error_case(name, unit, lines, lowercase=False, strip_punctuation=False):
    # Line feeds part words here, where jiwer parts them at spaces alone.
    lines = [(o.replace("\n", " "), [r.replace("\n", " ") for r in rs]) for o, rs in lines]
    best = []
    for output, references in lines:
        options = [measure_errors(unit, lowercase, strip_punctuation, output, r) for r in references]
        best.append(min(options, key=lambda option: option[0])[1])
    sums = np.sum(best, axis=0)
    return {
        "name": name,
        "unit": unit,
        "lowercase": lowercase,
        "strip_punctuation": strip_punctuation,
        "outputs": [output for output, _ in lines],
        "references": [references for _, references in lines],
        "lines": best,
        "rate": float(sums[:3].sum() / max(sums[3], 1)),
    }


def errors():
    few, letters = list("abc"), list("abcd ")
    long = [("".join(RANDOM.choices(letters, k=RANDOM.randint(0, 300))).strip() for _ in "or") for _ in range(30)]
    long = [(output, [reference]) for output, reference in long]
    return [
        error_case("words", "words", TEXTS),
        error_case("words in lower case", "words", TEXTS, lowercase=True),
        error_case("words without punctuation", "words", TEXTS, strip_punctuation=True),
        error_case("words cleaned", "words", TEXTS, lowercase=True, strip_punctuation=True),
        error_case("characters", "characters", TEXTS),
        error_case("characters cleaned", "characters", TEXTS, lowercase=True, strip_punctuation=True),
        error_case("phonemes", "phonemes", PHONEMES),
        error_case("few words", "words", random_lines(few, 60, 9, references=3)),
        error_case("many words", "words", random_lines([*"abcdefghij"], 12, 150)),
        error_case("long characters", "characters", long),
        error_case("only empty references", "words", [("a b", [""]), ("", [""])]),
    ]


# ---------------------------------------------------------------- ROUGE

SUMMARIES = [
    (
        "The cats were sleeping on the table.\nA dog barked loudly, and nobody cared.",
        [
            "A cat sleeps on the table.\nDogs were barking; nobody was caring about the dogs.",
            "Nobody cared about the barking of a dog.\n\nThe cat slept.",
        ],
    ),
    ("the quick brown fox\njumped over\nthe lazy dog", ["the lazy dog\nwas jumped over by the quick brown fox"]),
    ("w1 w2 w3 w4 w5", ["w1 w2 w6 w7 w8\nw1 w3 w8 w9 w5"]),
    ("one\n...\n\ntwo", ["\none two\n"]),
    ("Don't U.S.A. 3.5% e-mail", ["don t u s a 3 5 e mail"]),
    ("İstanbul Kelvin K ſ ẞ", ["istanbul kelvin k s ss"]),
    # Two references of the same F, but not of the same precision.
    ("a b", ["a x", "a b c d e f"]),
    ("a b", ["a b c d e f", "a x"]),
]

WORDS = """
a as be by i is oed sky skies dying lying tying news inning innings outing outings canning cannings howe proceed
exceed succeed dies lies ties died tied lied died skied cries cried flies flied die ies ied eed ing ed s ss sses
caresses ponies caress cats gas this feed agreed freed plastered bled motoring sing conflated troubled sized hopping
tanned falling hissing fizzed failing filing happy sky enjoy by say cry yes toy try toys relational conditional rational
valenci hesitanci digitizer conformabli radicalli differentli vileli analogousli vietnamization predication operator
feudalism decisiveness hopefulness callousness formaliti sensitiviti sensibiliti triplicate formative formalize
electriciti electrical hopeful goodness revival allowance inference airliner gyroscopic adjustable defensible irritant
replacement adjustment dependent adoption homologou communism activate angulariti homologous effective bowdlerize
probate rate cease controll roll rolling controlling geologi geology theology biologically apologies analogies
rationally nationally conditionally finally really fully carefully beautifully fullness hopefully skillfully
possibly terribly ably probably yellow yoyo syzygy rhythm crypt style styling dyed eyed aye use used using uses
ion nation lion million passion session motion able table edible ate late ment moment cement element ement
generalizations oscillators universities university meeting feeling seeing being begging beginning running
controlled rolled llama ll all ball controllable agree agreeable ease easy easily busier busiest axes boxes
argument argue arguing argued arguments traditional reference references organization organizer organize
2nd 1990s a1b2 x86 b2b0 1000 ooo iii eee yyy yay yyed wwing aying oing eing exed axed
""".split()
ROOTS = "act adapt agr ball be comp controll cry enjoy fizz form hop l log low m nat oper pay rat run sens sky tr univers us v y".split()
SUFFIXES = (
    "s es ies ied ed ing eed y ational tional enci anci izer bli alli entli eli ousli ization ation ator alism iveness "
    "fulness ousness aliti iviti biliti fulli logi icate ative alize iciti ical ful ness al ance ence er ic able ible "
    "ant ement ment ent ion sion tion ou ism ate iti ous ive ize e ll le izing ated ationalli ally edly ings"
).split()


def stems():
    stemmer = nltk.stem.porter.PorterStemmer()
    words = sorted({*WORDS, *(root + suffix for root in ROOTS for suffix in SUFFIXES)})
    return [[word, stemmer.stem(word)] for word in words]


def rouge_case(name, stem, lines):
    kinds = ["rouge1", "rouge2", "rougeL", "rougeLsum"]
    scorer = rouge_scorer.RougeScorer(kinds, use_stemmer=stem)
    scored = []
    for output, references in lines:
        found = scorer.score_multi(references, output)
        scored.append([[float(value) for value in found[kind]] for kind in kinds])
    return {
        "name": name,
        "stem": stem,
        "outputs": [output for output, _ in lines],
        "references": [references for _, references in lines],
        "lines": scored,
        "mean": np.mean(scored, axis=0).tolist(),
    }


def rouge():
    forms = "cat cats sleeps sleeping slept nationally national rationalize hopped hoping a the of \n \n".split(" ")
    lines = TEXTS + SUMMARIES
    return [
        rouge_case("texts", False, lines),
        rouge_case("texts with stems", True, lines),
        rouge_case("few words", False, random_lines(["a", "b", "c", "\n"], 40, 14, references=3)),
        rouge_case("forms of words", True, random_lines(forms, 25, 25, references=2)),
        rouge_case("many words", False, random_lines([*"abcdefgh", "\n"], 6, 200)),
    ]


# ---------------------------------------------------------------- labels and spans


def classification_case(name, answers, references):
    labels = sorted({*answers, *references})
    figures = lambda average: sklearn_metrics.precision_recall_fscore_support(
        references, answers, average=average, zero_division=0
    )
    by_label = zip(*(values.tolist() for values in figures(None)))
    average = lambda kind: [float(value) for value in figures(kind)[:3]]
    return {
        "name": name,
        "answers": answers,
        "references": references,
        "accuracy": float(sklearn_metrics.accuracy_score(references, answers)),
        "labels": [[label, *values] for label, values in zip(labels, by_label, strict=True)],
        **{kind: average(kind) for kind in ["micro", "macro", "weighted"]},
        "confusion": sklearn_metrics.confusion_matrix(references, answers, labels=labels).tolist(),
    }


def classification():
    animals = ["cane", "gatto", "猫", "Katze", "🐈", "кошка", ""]
    draw = lambda labels, count: RANDOM.choices(labels, k=count)
    return [
        classification_case("one", ["gatto"], ["gatto"]),
        classification_case("all wrong", ["b", "a", "c"], ["a", "b", "d"]),
        classification_case("never told", list("aabbab"), list("abcabc")),
        classification_case("never in the references", list("abcdab"), list("abbaab")),
        classification_case("animals", draw(animals[1:], 60), draw(animals[:-1], 60)),
        classification_case("uneven", draw("aaaaaab", 50), draw("aaaaab", 50)),
    ]


def span_case(name, scheme, outputs, references):
    if scheme == "lenient":
        measure, options = sequence_labeling.precision_recall_fscore_support, {}
        entities = lambda lines: {(kind, a, b) for kind, a, b in sequence_labeling.get_entities(lines)}
    else:
        kinds = {"iob2": IOB2, "iobes": IOBES}
        measure, options = v1.precision_recall_fscore_support, {"scheme": kinds[scheme]}
        entities = lambda lines: {
            (span.tag, line, span.start)
            for line, spans in enumerate(v1.Entities(lines, kinds[scheme]).entities)
            for span in spans
        }
    figures = lambda kind: measure(references, outputs, average=kind, zero_division=0, **options)
    types = sorted({entity[0] for entity in entities(references) | entities(outputs)})
    by_type = zip(*(values.tolist() for values in figures(None)))
    # The mean over no types at all is not a number there.
    average = lambda kind: [float(np.nan_to_num(value)) for value in figures(kind)[:3]]
    return {
        "name": name,
        "scheme": scheme,
        "outputs": outputs,
        "references": references,
        "types": [[kind, *values] for kind, values in zip(types, by_type, strict=True)],
        **{kind: average(kind) for kind in ["micro", "macro", "weighted"]},
    }


TAGGED = [
    # output, reference
    ("B-PER I-PER O B-LOC", "B-PER I-PER O B-LOC"),
    ("I-PER I-PER O I-LOC", "B-PER I-PER O B-LOC"),
    ("B-PER I-LOC O O", "B-PER I-PER O O"),
    ("B-PER B-PER O B-ORG", "B-PER I-PER O O"),
    ("O O O O", "B-PER I-PER O B-MISC"),
    ("B-NEW O B-NEW I-NEW", "O O O O"),
    ("I-PER O I-PER I-LOC", "I-PER O B-PER I-LOC"),
    ("B I O B", "B I I O"),
    ("B-A-B I-A-B O I-A-C", "B-A-B I-A-B O B-A-C"),
    ("B-人名 I-人名 O B-😀", "B-人名 O O B-😀"),
]
TAGGED_ENDS = [
    ("B-PER I-PER E-PER S-LOC", "B-PER I-PER E-PER S-LOC"),
    ("B-PER E-PER E-PER O", "B-PER I-PER E-PER O"),
    ("B-PER B-PER E-PER E-PER", "B-PER I-PER I-PER E-PER"),
    ("S-PER I-PER E-PER S-PER", "S-PER B-PER E-PER S-PER"),
    ("B-PER I-PER O E-PER", "B-PER E-PER O S-PER"),
    ("B-PER E-LOC I-LOC E-LOC", "B-PER E-PER B-LOC E-LOC"),
    ("E-PER S-PER E-PER I-PER", "S-PER S-PER S-PER S-PER"),
    ("B-PER S-PER E-PER B-LOC", "B-PER I-PER E-PER S-LOC"),
    ("I-PER E-PER B-PER", "B-PER E-PER O"),
    ("O E O S", "S B E O"),
]


def spans():
    split = lambda pairs, side: [pair[side].split() for pair in pairs]
    random_tags = lambda letters, length: [
        letter if letter == "O" else f"{letter}-{RANDOM.choice('XY')}" for letter in RANDOM.choices(letters, k=length)
    ]
    lengths = [RANDOM.randint(0, 14) for _ in range(40)]
    with_ends = lambda: [random_tags("OOBIIESS", length) for length in lengths]
    without_ends = lambda: [random_tags("OOBBIII", length) for length in lengths]
    nothing = [["O", "O"], []]
    cases = []
    for scheme in ["lenient", "iob2", "iobes"]:
        cases.append(span_case("by hand", scheme, split(TAGGED, 0), split(TAGGED, 1)))
        cases.append(span_case("at random", scheme, without_ends(), without_ends()))
        cases.append(span_case("nothing", scheme, nothing, nothing))
    for scheme in ["lenient", "iobes"]:
        cases.append(span_case("ends by hand", scheme, split(TAGGED_ENDS, 0), split(TAGGED_ENDS, 1)))
        cases.append(span_case("ends at random", scheme, with_ends(), with_ends()))
    return cases


# ---------------------------------------------------------------- calibration and intervals


def calibration_case(name, confidences, right, bins):
    confidences, right = np.array(confidences, float), np.array(right, float)
    edges = np.arange(1, bins) / bins
    place = np.searchsorted(edges, confidences, side="left")  # bin b is for (b/B, (b+1)/B]
    rows = []
    for b in range(bins):
        inside = place == b
        mean = lambda values: float(values[inside].mean()) if inside.any() else 0.0
        rows.append([int(inside.sum()), mean(confidences), mean(right)])
    gaps = [abs(accuracy - confidence) for _, confidence, accuracy in rows]
    share = [count / max(len(confidences), 1) for count, _, _ in rows]
    return {
        "name": name,
        "confidences": confidences.tolist(),
        "right": [bool(value) for value in right],
        "bins": rows,
        "expected_error": float(np.dot(share, gaps)),
        "maximum_error": float(max(gaps)),
        "brier": float(np.mean((confidences - right) ** 2)) if len(confidences) else 0.0,
    }


def calibration():
    edges = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]
    drawn = [RANDOM.betavariate(4, 2) for _ in range(200)]
    fair = [RANDOM.random() < confidence for confidence in drawn]
    return [
        calibration_case("nothing", [], [], 3),
        calibration_case("edges", edges, [place % 2 == 0 for place in range(11)], 10),
        calibration_case("edges of 15", [place / 15 for place in range(16)], [True] * 16, 15),
        calibration_case("fair", drawn, fair, 15),
        calibration_case("too sure", [confidence**0.3 for confidence in drawn], fair, 10),
        calibration_case("one bin", drawn[:20], fair[:20], 1),
    ]


def wilson():
    shares = [(0, 1), (1, 1), (0, 10), (10, 10), (5, 10), (1, 3), (81, 263), (999, 1000), (123, 100000)]
    found = []
    for right, total in shares:
        interval = binomtest(right, total).proportion_ci(0.95, method="wilson")
        found.append([right, total, float(interval.low), float(interval.high)])
    return found


def bootstrap():
    cases = []
    for examples in [
        [(1, 4), (0, 3), (2, 5), (1, 1), (0, 6)],
        [(0.25, 1), (0.5, 1), (0.125, 1), (1, 1), (0.75, 1), (0.375, 1)],
    ]:
        ratios = []
        for draw in itertools.product(examples, repeat=len(examples)):
            numerator, denominator = np.sum(draw, axis=0)
            ratios.append(numerator / denominator)
        ends = np.quantile(ratios, [0.025, 0.975])
        cases.append({"examples": examples, "low": float(ends[0]), "high": float(ends[1])})
    return cases


# ---------------------------------------------------------------- writing


def main():
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in PACKAGES)
    content = {
        "made_by": f"tools/golden_metrics_more.py, {versions}",
        "errors": errors(),
        "stems": stems(),
        "rouge": rouge(),
        "classification": classification(),
        "spans": spans(),
        "calibration": calibration(),
        "wilson": wilson(),
        "bootstrap": bootstrap(),
    }
    write = lambda value: json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    parts = []
    for key, value in content.items():
        # A line for each case.
        body = write(value) if isinstance(value, str) else "[\n" + ",\n".join(map(write, value)) + "\n]"
        parts.append(f"{json.dumps(key)}: {body}")
    path = FOLDER / "metrics_more.json"
    path.write_text("{\n" + ",\n".join(parts) + "\n}\n", encoding="utf-8")
    print(path, path.stat().st_size, Counter({key: len(write(value)) for key, value in content.items()}))


if __name__ == "__main__":
    main()
