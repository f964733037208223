//! Tasks without a decoder, and what tells their answers.

use super::{LANGUAGE, PAIR, SINGLE, and, check, parse, with};

fn telling(task: &str, lines: &str) -> String {
    format!("task = \"{task}\"\n[data]\ntrain = {{ tsv = \"a\" }}\n[encoder.lstm]\nwidth = 8\n{lines}\n")
}

#[test]
fn heads_that_make_no_sense_are_refused_where_they_stand() {
    let (classify, label) = ("classify", "label");
    let (masked, both) = ("masked-language-model", "bidirectional-language-model");
    let no_place = "has no place in a task without a decoder; remove it, or write `task = \"translate\"`";
    let (decoder, single) = (format!("`decoder` {no_place}"), format!("`single` {no_place}"));
    let attention = format!("`attention` {no_place}");
    let transformer =
        |task: &str, lines: &str| with(&telling(task, lines), "encoder.lstm", "encoder.transformer");
    let cases: Vec<(String, &str, &str)> = vec![
        (
            and(PAIR, "[head]"),
            "8:2",
            "`head` is for tasks without a decoder; remove it, or write `task = \"classify\"`",
        ),
        (and(LANGUAGE, "[head]"), "6:2", "`head` is for tasks without a decoder"),
        (telling(classify, "[decoder.lstm]"), "6:2", &decoder),
        (telling(label, "[single.lstm]"), "6:2", &single),
        (telling(classify, "[attention]"), "6:2", &attention),
        (
            with(&telling(classify, "[head]"), "[encoder.lstm]\nwidth = 8\n", ""),
            "1:1",
            "`encoder` is missing; write [encoder.lstm] (or rnn, gru, transformer)",
        ),
        (
            telling(label, "[head]\npooling = \"mean\""),
            "7:1",
            "`head.pooling` is for `task = \"classify\"`, which has one answer for a sequence; remove it",
        ),
        (telling(masked, "[head]\npooling = \"last\""), "7:1", "`head.pooling` is for `task = \"classify\"`"),
        (telling(classify, "[head]\npooling = \"means\""), "7:11", "hint: did you mean `mean`?"),
        (
            telling(classify, "[head]\npooling = \"class-token\""),
            "7:1",
            "`head.pooling` is \"class-token\", the state of a token before the sequence, and [encoder.lstm] has read \
             nothing else by then; write `bidirectional = true` there, or `pooling = \"last\"`",
        ),
        (
            telling(classify, "[head]\nhidden = 0"),
            "7:1",
            "`head.hidden` is 0; write a number from 1 to 16384",
        ),
        (telling(classify, "[head]\nhidden = 16385"), "7:1", "`head.hidden` is 16385; write a number"),
        (
            telling(classify, "[head]\ndropout = 1.0"),
            "7:1",
            "`head.dropout` is 1; write a share from 0 to below 1",
        ),
        // Sharing.
        (
            telling(classify, "[sharing]\nembeddings = true"),
            "7:1",
            "`sharing.embeddings` needs a decoder, which this task has not; remove it",
        ),
        (
            transformer(masked, "[sharing]\nencoder_decoder = true"),
            "7:1",
            "`sharing.encoder_decoder` needs a decoder, which this task has not; remove it",
        ),
        (
            telling(label, "[sharing]\noutput = true"),
            "7:1",
            "`sharing.output` needs tokens to tell, and this task tells labels; remove it",
        ),
        (
            telling(masked, "embedding = 4\n[sharing]\noutput = true"),
            "8:1",
            "`sharing.output` needs token vectors as wide as what the scores read, but these are 4 and 8; write \
             `hidden = 4` in [head]",
        ),
        // Language models of both directions.
        (
            telling(both, ""),
            "4:10",
            "`encoder.lstm.bidirectional` is false, and a language model of both directions needs both; write \
             `bidirectional = true`",
        ),
        (
            transformer(both, ""),
            "4:10",
            "`encoder.transformer` sees all of its source at once, so there is nothing to tell; write [encoder.lstm], or \
             `task = \"masked-language-model\"` with [encoder.transformer]",
        ),
        (
            telling(both, "bidirectional = true\nembedding = 16\n[sharing]\noutput = true"),
            "9:1",
            "`sharing.output` is not for a language model of both directions; remove it",
        ),
        // Features.
        (
            transformer(classify, "[features.lstm]"),
            "6:2",
            "`features` stand beside what a recurrent encoder reads, and there is none; write [encoder.lstm]",
        ),
        (and(LANGUAGE, "[features.gru]"), "6:2", "`features` stand beside what a recurrent encoder reads"),
        (and(SINGLE, "[features.gru]"), "6:2", "`features` stand beside what a recurrent encoder reads"),
        (
            telling(classify, "[features.lstm]\nwidth = 0"),
            "7:1",
            "`features.lstm.width` is 0; write a number from 1 to 16384",
        ),
        (
            telling(classify, "[features.lstm]\nreversed = true"),
            "7:1",
            "`features.lstm.reversed` has no meaning where both directions are read; remove it",
        ),
        (
            and(PAIR, "[features.lstm]\n[sharing]\nencoder_decoder = true"),
            "10:1",
            "`sharing.encoder_decoder` cannot be where features widen what the encoder reads; remove one of them",
        ),
    ];
    check(cases);
}

const CLASSES: &str = "task = \"classify\"\n[data]\ntrain = { tsv = \"a\" }\n[encoder.gru]\nwidth = 8\n";
const MASKED: &str = "task = \"masked-language-model\"\n[data]\ntrain = { text = \"a\" }\n[encoder.transformer]\nwidth = 8\nheads = 2\n";

#[test]
fn tasks_without_a_decoder_are_accepted() {
    let label = with(&with(CLASSES, "classify", "label"), "train = { tsv = \"a\" }", "builtin = \"sort\"");
    let both = with(MASKED, "masked-", "bidirectional-")
        .replace("[encoder.transformer]\nwidth = 8\nheads = 2", "[encoder.gru]\nbidirectional = true");
    let one_side = with(MASKED, "train = { text = \"a\" }", "builtin = \"phrases\"\nside = \"source\"");
    let masking = and(MASKED, "[train.masking]\nshare = 1.0\nmasked = 0.5\nrandom = 0.5");
    for text in [CLASSES, MASKED, &label, &both, &one_side, &masking] {
        parse(text, &[]).unwrap_or_else(|error| panic!("{error}\n{text}"));
    }
}

#[test]
fn settings_of_another_task_are_refused_where_they_stand() {
    let text = with(CLASSES, "tsv", "text");
    let valid = with(CLASSES, "{ tsv = \"a\" }", "{ tsv = \"a\" }\nvalid = { text = \"b\" }");
    let builtin = with(CLASSES, "train = { tsv = \"a\" }", "builtin = \"sort\"");
    let dates = with(&with(&builtin, "classify", "label"), "sort", "dates");
    let best = "is \"exact-match\", which `task = ";
    let cases: Vec<(String, &str, &str)> = vec![
        (text, "3:1", "`data.train` is text without labels, and this task needs them; write { tsv = \"…\" }"),
        (valid, "4:1", "`data.valid` is text without labels"),
        (
            with(CLASSES, "[encoder", "side = \"source\"\n[encoder"),
            "4:1",
            "`data.side` is for language models",
        ),
        (builtin, "3:1", "`data.builtin` has no labels; write `train = { tsv = \"…\" }`"),
        (dates, "3:1", "`data.builtin` has no label for every word; write \"copy\", \"reverse\" or \"sort\""),
        (and(CLASSES, "[train]\nbest_by = \"exact-match\""), "7:1", best),
        (and(LANGUAGE, "[train]\nbest_by = \"exact-match\""), "7:1", best),
        (and(MASKED, "[train]\nbest_by = \"exact-match\""), "8:1", best),
        (
            and(MASKED, "[train]\nsampling = { decay = \"constant\", k = 0.5 }"),
            "8:1",
            "`train.sampling` is for translators",
        ),
        (
            and(MASKED, "[train]\nhardest = { share = 0.5 }"),
            "8:1",
            "`train.hardest` asks twice about a text, and other tokens are hidden each time; remove it",
        ),
        (
            and(LANGUAGE, "[train]\nmasking = {}"),
            "7:1",
            "`train.masking` is for `task = \"masked-language-model\"`, which finds hidden tokens again; remove it",
        ),
        (
            and(MASKED, "[train.masking]\nshare = 0.0"),
            "8:1",
            "`train.masking.share` is 0; write a share above 0",
        ),
        (and(MASKED, "[train.masking]\nshare = nan"), "8:1", "`train.masking.share` is NaN"),
        (and(MASKED, "[train.masking]\nmasked = 1.5"), "8:1", "`train.masking.masked` is 1.5; write a share"),
        (and(MASKED, "[train.masking]\nrandom = 0.3"), "8:1", "`train.masking.random` makes 1.1 together"),
        (and(MASKED, "[train.masking]\nmaske = 0.3"), "8:1", "hint: did you mean `masked`?"),
        (and(MASKED, "[tokens.source]\nkind = \"char\""), "7:", "`tokens.source` is for two sides"),
        (and(CLASSES, "[tokens.target]\nkind = \"char\""), "6:", "`tokens.target` is for two sides"),
    ];
    check(cases);
}
