//! `[attention]`.

use super::{LANGUAGE, PAIR, SINGLE, and, check, parse};

fn attending(lines: &str) -> String {
    and(PAIR, &format!("[attention]\n{lines}"))
}

#[test]
fn attention_that_makes_sense_is_accepted() {
    for lines in [
        "",
        "bridge = \"attention-only\"",
        "score = \"location\"\nmax_positions = 257",
        "score = \"location\"\nmax_positions = 21\n[train]\nmax_length = 20",
        "focus = \"local\"\nwindow = 2\naligned = \"predicted\"\nwidth = 4\nscore = \"dot\"",
        "focus = \"hard\"\nbaseline = \"learned\"\nentropy = 0.0\nmarginal_steps = 0\nprediction_seed = 1",
        "query = \"current\"\ncoverage = true\n[sharing]\nencoder_decoder = true",
        "query = \"previous\"\nfeed = \"attentional\"",
        "query = \"current\"\nfeed = \"context\"",
    ] {
        let text = match lines.starts_with("bridge") {
            true => and(PAIR, &format!("{lines}\n[attention]")),
            false => attending(lines),
        };
        parse(&text, &[]).unwrap_or_else(|error| panic!("{error}\n{text}"));
    }
}

#[test]
fn attention_that_makes_no_sense_is_refused_where_it_stands() {
    let of = |key: &str, to: &str| format!("`attention.{key}` is for {to}; remove it, or write {to}");
    let (local, hard) = ("`focus = \"local\"`", "`focus = \"hard\"`");
    let (window, aligned) = (of("window", local), of("aligned", local));
    let (baseline, entropy) = (of("baseline", hard), of("entropy", hard));
    let (marginal, drawn) = (of("marginal_steps", hard), of("prediction_seed", hard));
    let width = of("width", "`score = \"additive\"`");
    let positions = of("max_positions", "`score = \"location\"`");
    let cases: Vec<(String, &str, &str)> = vec![
        // Where there is nothing to look at.
        (
            and(SINGLE, "[attention]"),
            "6:2",
            "`attention` needs an encoder and a decoder, and [single] is one network without either; remove it",
        ),
        (
            and(LANGUAGE, "[attention]"),
            "6:2",
            "`attention` has no source to look at in a language model; remove it",
        ),
        (
            and(PAIR, "bridge = \"attention-only\""),
            "8:1",
            "`decoder.lstm.bridge` is \"attention-only\", but there is no attention; add [attention], or write \
             `bridge = \"first-state\"`",
        ),
        // Names.
        (attending("score = \"aditive\""), "9:9", "hint: did you mean `additive`?"),
        (attending("score = \"scaled_dot\""), "9:9", "hint: did you mean `scaled-dot`?"),
        (attending("focus = \"sotf\""), "9:9", "hint: did you mean `soft`?"),
        (attending("query = \"curent\""), "9:9", "hint: did you mean `current`?"),
        (attending("focus = \"local\"\nwidnow = 3"), "10:1", "hint: did you mean `window`?"),
        // Sizes.
        (
            attending("window = 0\nfocus = \"local\""),
            "9:1",
            "`attention.window` is 0; write a number from 1 to 16384",
        ),
        (attending("width = 0"), "9:1", "`attention.width` is 0; write a number from 1 to 16384"),
        (
            attending("focus = \"hard\"\nentropy = 2"),
            "10:1",
            "`attention.entropy` is 2; write a number from 0 to below 1, such as 0.01",
        ),
        (
            attending("focus = \"hard\"\nentropy = -0.1"),
            "10:1",
            "`attention.entropy` is -0.1; write a number",
        ),
        (attending("focus = \"hard\"\nentropy = nan"), "10:1", "`attention.entropy` is NaN; write a number"),
        (
            attending("score = \"location\"\nmax_positions = 20\n[train]\nmax_length = 20"),
            "10:1",
            "`attention.max_positions` is 20, but `train.max_length` lets sequences of 21 tokens in, their end \
             counted; write `max_positions = 21`, or a smaller `max_length`",
        ),
        (
            attending("score = \"location\"\n[train]\nmax_length = 300"),
            "8:2",
            "`attention.max_positions` is 257, but `train.max_length` lets sequences of 301 tokens in",
        ),
        // Settings of what was not chosen.
        (attending("window = 2"), "9:1", &window),
        (attending("focus = \"hard\"\nwindow = 2"), "10:1", &window),
        (attending("aligned = \"monotone\""), "9:1", &aligned),
        (attending("baseline = \"average\""), "9:1", &baseline),
        (attending("focus = \"local\"\nentropy = 0.1"), "10:1", &entropy),
        (attending("marginal_steps = 5"), "9:1", &marginal),
        (attending("prediction_seed = 5"), "9:1", &drawn),
        (attending("score = \"dot\"\nwidth = 4"), "10:1", &width),
        (attending("max_positions = 300"), "9:1", &positions),
        (
            attending("query = \"previous\"\nfeed = \"context\""),
            "10:1",
            "`attention.feed` is \"context\", which enters the cell already where the previous state asks; write \
             `query = \"current\"`, or remove it",
        ),
        (
            attending("query = \"previous\"\nfeed = \"place\""),
            "10:1",
            "`attention.feed` is \"place\", which enters the cell already where the previous state asks; write \
             `query = \"current\"`, or remove it",
        ),
        (
            attending("feed = \"place\""),
            "9:1",
            "`attention.feed` is \"place\", and no state of the source tells where it stands; write `positions = \
             \"coordinates\"` in [encoder.cnn], or `feed = \"context\"`",
        ),
        // What widens the decoder's input.
        (
            attending("query = \"previous\"\n[sharing]\nencoder_decoder = true"),
            "9:1",
            "`attention.query` widens the decoder's input, which then cannot be shared with the encoder; write \
             `query = \"current\"`, or `encoder_decoder = false`",
        ),
        (
            attending("feed = \"attentional\"\n[sharing]\nencoder_decoder = true"),
            "9:1",
            "`attention.feed` widens the decoder's input, which then cannot be shared with the encoder; write \
             `feed = \"nothing\"`, or `encoder_decoder = false`",
        ),
    ];
    check(cases);
}
