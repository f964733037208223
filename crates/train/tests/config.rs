//! What a configuration may not say: refused with the file, the line, the column and the remedy.

use gatto_train::ConfigFile;
use std::path::Path;

fn parse(text: &str, changes: &[&str]) -> Result<ConfigFile, String> {
    let changes: Vec<String> = changes.iter().map(|&change| change.to_owned()).collect();
    ConfigFile::parse(Path::new("a.toml"), text.to_owned(), ".".into(), &changes)
        .map_err(|error| error.to_string())
}

fn refused(text: &str) -> String {
    match parse(text, &[]) {
        Ok(_) => panic!("accepted:\n{text}"),
        Err(error) => error,
    }
}

/// The smallest configuration of each family; what is wrong is put in place of, or behind, a line.
const PAIR: &str = r#"task = "translate"
[data]
builtin = "copy"
[encoder.lstm]
width = 8
[decoder.lstm]
width = 8
"#;
const SINGLE: &str = "task = \"translate\"\n[data]\nbuiltin = \"copy\"\n[single.gru]\nwidth = 8\n";
const LANGUAGE: &str = "task = \"language-model\"\n[data]\nbuiltin = \"copy\"\n[decoder.rnn]\nwidth = 8\n";
const FILES: &str = "task = \"translate\"\n[data]\ntrain = { tsv = \"a\" }\n[encoder.lstm]\n[decoder.lstm]\n";

/// The text with one piece in place of another.
fn with(text: &str, old: &str, new: &str) -> String {
    assert!(text.contains(old), "{old}");
    text.replacen(old, new, 1)
}

/// The text with more behind it.
fn and(text: &str, more: &str) -> String {
    format!("{text}{more}\n")
}

#[test]
fn the_smallest_configurations_are_accepted() {
    let widest = with(PAIR, "width = 8", "width = 16384");
    for text in [PAIR, SINGLE, LANGUAGE, FILES, &widest] {
        parse(text, &[]).unwrap_or_else(|error| panic!("{error}\n{text}"));
    }
}

#[test]
fn models_that_cannot_be_built_are_refused_where_they_stand() {
    let cases: Vec<(String, &str, &str)> = vec![
        // Sizes, of each part.
        (
            with(PAIR, "width = 8", "width = 0"),
            "5:1",
            "`encoder.lstm.width` is 0; write a number from 1 to 16384",
        ),
        (with(PAIR, "width = 8", "width = 20000"), "5:1", "`encoder.lstm.width` is 20000"),
        (with(PAIR, "width = 8", "width = 8\n  embedding = 0"), "6:3", "`encoder.lstm.embedding` is 0"),
        (
            with(PAIR, "width = 8", "layers = 65"),
            "5:1",
            "`encoder.lstm.layers` is 65; write a number from 1 to 64",
        ),
        (
            with(PAIR, "width = 8", "dropout = 1.0"),
            "5:1",
            "`encoder.lstm.dropout` is 1; write a share from 0 to below 1",
        ),
        (with(PAIR, "width = 8", "dropout = nan"), "5:1", "`encoder.lstm.dropout` is NaN"),
        (and(PAIR, "layers = 0"), "8:1", "`decoder.lstm.layers` is 0"),
        (and(PAIR, "dropout = -0.1"), "8:1", "`decoder.lstm.dropout` is -0.1"),
        (and(SINGLE, "layers = 0"), "6:1", "`single.gru.layers` is 0"),
        // Within each range, but too much together.
        (
            with(PAIR, "width = 8", "width = 16384\nlayers = 64"),
            "5:1",
            "`encoder.lstm.width` makes layers of 137438953472 parameters, and at most 2147483648 can be built; \
             write a smaller width",
        ),
        (
            with(PAIR, "width = 8", "bidirectional = true\nwidth = 16384"),
            "6:1",
            "`encoder.lstm.width` makes layers of 4294967296 parameters",
        ),
        (
            and(PAIR, "embedding = 9\nlayers = 64")
                .replace("width = 8\nembedding", "width = 16384\nembedding"),
            "7:1",
            "`decoder.lstm.width` makes layers of",
        ),
        (
            with(SINGLE, "width = 8", "width = 16384\nlayers = 64"),
            "5:1",
            "`single.gru.width` makes layers of",
        ),
        (and(LANGUAGE, "embedding = 99999"), "6:1", "`decoder.rnn.embedding` is 99999"),
        // Parts that are missing, or one too many.
        (with(PAIR, "[encoder.lstm]\nwidth = 8\n", ""), "1:1", "`encoder` is missing; write [encoder.lstm]"),
        (with(PAIR, "[decoder.lstm]\nwidth = 8\n", ""), "1:1", "`decoder` is missing; write [decoder.lstm]"),
        (with(LANGUAGE, "[decoder.rnn]\nwidth = 8\n", ""), "1:1", "`decoder` is missing"),
        (and(PAIR, "[single.lstm]"), "4:2", "`encoder` stands beside [single], which is both"),
        (and(SINGLE, "[decoder.lstm]"), "6:2", "`decoder` stands beside [single], which is both"),
        (
            with(SINGLE, "translate", "language-model"),
            "4:2",
            "`single` reads a source, which a language model has not",
        ),
        (and(LANGUAGE, "[encoder.gru]"), "6:2", "`encoder` has nothing to read in a language model"),
        // What does not go together.
        (
            with(PAIR, "width = 8", "bidirectional = true\nreversed = true"),
            "6:1",
            "`encoder.lstm.reversed` has no meaning beside `bidirectional = true`",
        ),
        (and(LANGUAGE, "bridge = \"both\""), "6:1", "`decoder.rnn.bridge` needs an encoder"),
        (
            and(LANGUAGE, "[sharing]\nencoder_decoder = true"),
            "7:1",
            "`sharing.encoder_decoder` needs two sides",
        ),
        (and(LANGUAGE, "[sharing]\nembeddings = true"), "7:1", "`sharing.embeddings` needs two sides"),
        (
            and(SINGLE, "[tokens]\nshared = false"),
            "7:1",
            "`tokens.shared` is false, but a single network reads both sides; write `shared = true`",
        ),
        (
            and(SINGLE, "[tokens.source]\nkind = \"char\""),
            "6:2",
            "a single network reads both sides; write `shared = true`",
        ),
        (
            and(PAIR, "[tokens]\nshared = false\n[sharing]\nembeddings = true"),
            "11:1",
            "`sharing.embeddings` needs one vocabulary for both sides; write `shared = true` under [tokens]",
        ),
        (
            and(PAIR, "embedding = 4\n[sharing]\nembeddings = true"),
            "10:1",
            "needs vectors of one width, but encoder.lstm has 8 and decoder.lstm has 4",
        ),
        (
            and(&with(PAIR, "decoder.lstm", "decoder.gru"), "[sharing]\nencoder_decoder = true"),
            "9:1",
            "needs the same cell, width, layers and embedding in [encoder.lstm] and [decoder.gru]",
        ),
        (
            and(PAIR, "layers = 2\n[sharing]\nencoder_decoder = true"),
            "10:1",
            "needs the same cell, width, layers",
        ),
        (
            and(PAIR, "embedding = 2\n[sharing]\nencoder_decoder = true"),
            "10:1",
            "needs the same cell, width, layers",
        ),
        (
            and(
                &with(PAIR, "width = 8", "width = 8\nbidirectional = true"),
                "[sharing]\nencoder_decoder = true",
            ),
            "10:1",
            "needs an encoder of one direction; write `bidirectional = false`",
        ),
        (
            and(PAIR, "bridge = \"every-step\"\n[sharing]\nencoder_decoder = true"),
            "8:1",
            "`decoder.lstm.bridge` widens the decoder's input",
        ),
        (
            and(PAIR, "embedding = 4\n[sharing]\noutput = true"),
            "10:1",
            "`sharing.output` needs token vectors as wide as what the scores read, but decoder.lstm has embedding 4 and scores read 8; write `output = 4` in [decoder.lstm]",
        ),
        (
            and(SINGLE, "embedding = 4\n[sharing]\noutput = true"),
            "8:1",
            "`sharing.output` needs token vectors",
        ),
        (
            and(LANGUAGE, "embedding = 4\n[sharing]\noutput = true"),
            "8:1",
            "`sharing.output` needs token vectors",
        ),
    ];
    check(cases);
}

#[test]
fn training_that_makes_no_sense_is_refused_where_it_stands() {
    let train = |lines: &str| and(PAIR, &format!("[train]\n{lines}"));
    let files = |lines: &str| and(FILES, &format!("[train]\n{lines}"));
    let mut cases: Vec<(String, &str, &str)> = vec![
        (train("learning_rate = 0.0"), "9:1", "`train.learning_rate` is 0; write a number from"),
        (train("learning_rate = inf"), "9:1", "`train.learning_rate` is inf"),
        (train("beta1 = 1.0"), "9:1", "`train.beta1` is 1"),
        (train("beta2 = 1.5"), "9:1", "`train.beta2` is 1.5"),
        (train("epsilon = -1e-8"), "9:1", "`train.epsilon` is"),
        (train("momentum = 1.0"), "9:1", "`train.momentum` is 1"),
        (train("weight_decay = -1.0"), "9:1", "`train.weight_decay` is -1"),
        (train("clip = nan"), "9:1", "`train.clip` is NaN"),
        (train("label_smoothing = 1.0"), "9:1", "`train.label_smoothing` is 1"),
        (train("plateau_factor = 1.0"), "9:1", "`train.plateau_factor` is 1"),
        (train("batch_tokens = 0"), "9:1", "`train.batch_tokens` 0 holds nothing"),
        (train("batch_examples = 0"), "9:1", "`train.batch_examples` 0 holds nothing"),
        (train("pool = 0"), "9:1", "`train.pool` 0 holds nothing"),
        (train("max_length = 0"), "9:1", "`train.max_length` 0 drops every example"),
        (
            train("batch_tokens = 64"),
            "9:1",
            "`train.batch_tokens` 64 cannot hold an example of max_length = 256",
        ),
        (
            train("keep = 2\naverage = 3"),
            "10:1",
            "`train.average` is 3, but only 2 checkpoints are kept; write `keep = 3`",
        ),
        (train("sampling = { decay = \"constant\", k = 1.5 }"), "9:", "write a number from 0 to 1"),
        (
            train("sampling = { decay = \"constant\", k = 0.5, minimum = 2.0 }"),
            "9:",
            "write a number from 0 to 1",
        ),
        (
            train("sampling = { decay = \"exponential\", k = 1.0 }"),
            "9:",
            "write a number below 1, such as 0.999",
        ),
        (
            train("[train.sampling]\ndecay = \"linear\"\nk = 0.5"),
            "11:1",
            "`train.sampling.k` is a number of steps",
        ),
        (train("[train.sampling]\ndecay = \"inverse-sigmoid\"\nk = nan"), "11:1", "is a number of steps"),
        (
            files("patience = 2"),
            "7:1",
            "`train.patience` needs validation figures; write `valid` under [data]",
        ),
        (files("schedule = \"plateau\""), "7:1", "`train.schedule` needs validation figures"),
        (and(PAIR, "[search]\nmax_length = 0"), "9:1", "`search.max_length` must be from 1 to 100000"),
        (and(PAIR, "[search]\nmax_length = 100001"), "9:1", "`search.max_length` must be from 1 to 100000"),
    ];
    for key in
        ["steps", "accumulate", "log_every", "validate_every", "valid_examples", "checkpoint_every", "keep"]
    {
        cases.push((train(&format!("{key} = 0")), "9:1", "is 0; write 1 or more"));
    }
    check(cases);
}

/// The pair with these lines under [attention], which is line 8.
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
        "query = \"previous\"\nfeed = true",
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
        // What widens the decoder's input.
        (
            attending("query = \"previous\"\n[sharing]\nencoder_decoder = true"),
            "9:1",
            "`attention.query` widens the decoder's input, which then cannot be shared with the encoder; write \
             `query = \"current\"`, or `encoder_decoder = false`",
        ),
        (
            attending("feed = true\n[sharing]\nencoder_decoder = true"),
            "9:1",
            "`attention.feed` widens the decoder's input, which then cannot be shared with the encoder; write \
             `feed = false`, or `encoder_decoder = false`",
        ),
    ];
    check(cases);
}

/// Layers of self-attention on both sides, and alone; the first table is line 4.
const TRANSFORMER: &str = r#"task = "translate"
[data]
builtin = "copy"
[encoder.transformer]
width = 8
[decoder.transformer]
width = 8
"#;
const SINGLE_TRANSFORMER: &str =
    "task = \"translate\"\n[data]\nbuiltin = \"copy\"\n[single.transformer]\nwidth = 8\n";

#[test]
fn transformers_that_make_sense_are_accepted() {
    let reading = |lines: &str| with(TRANSFORMER, "width = 8", &format!("width = 8\n{lines}"));
    let mut texts = vec![
        TRANSFORMER.to_owned(),
        SINGLE_TRANSFORMER.to_owned(),
        with(SINGLE_TRANSFORMER, "translate\"", "language-model\"").replace("single", "decoder"),
        reading("heads = 1\nprojections = false"),
        reading("buckets = 4\nreach = 4\npositions = \"relative\""),
        reading("dropout = 0.1\nembedding_dropout = 0.0\nattention_dropout = 0.2\nactivation_dropout = 0.3"),
        reading("activation = \"gelu\"\nnorm = \"pre\"\nfeed_forward = 1\nlayers = 64\nheads = 8"),
        with(PAIR, "encoder.lstm", "encoder.transformer"),
        with(PAIR, "decoder.lstm", "decoder.transformer"),
        and(&with(PAIR, "encoder.lstm", "encoder.transformer"), "[attention]"),
        and(TRANSFORMER, "[sharing]\nembeddings = true\noutput = true"),
        // As many positions as are needed: the end, and for a single network both sides with theirs.
        and(&reading("positions = \"learned\"\nmax_positions = 22"), "[train]\nmax_length = 20"),
        and(
            TRANSFORMER,
            "positions = \"learned\"\nmax_positions = 21\n[train]\nmax_length = 20\n[search]\nmax_length = 20",
        ),
        and(
            SINGLE_TRANSFORMER,
            "positions = \"learned\"\nmax_positions = 42\n[train]\nmax_length = 20\n[search]\nmax_length = 20",
        ),
    ];
    for kind in ["sinusoidal", "learned", "index", "relative", "relative-clipped", "rotary", "none"] {
        texts.push(and(
            &reading(&format!("positions = \"{kind}\"")),
            "[train]\nmax_length = 200\n[search]\nmax_length = 200",
        ));
    }
    for text in texts {
        parse(&text, &[]).unwrap_or_else(|error| panic!("{error}\n{text}"));
    }
}

#[test]
fn transformers_that_cannot_be_built_are_refused_where_they_stand() {
    let reading = |lines: &str| with(TRANSFORMER, "width = 8", lines);
    let writing = |lines: &str| and(TRANSFORMER, lines);
    let lengths = |train: usize, search: usize| {
        format!("[train]\nmax_length = {train}\n[search]\nmax_length = {search}")
    };
    let cases: Vec<(String, &str, &str)> = vec![
        // Sizes.
        (reading("width = 0"), "5:1", "`encoder.transformer.width` is 0; write a number from 1 to 16384"),
        (
            reading("width = 16388"),
            "5:1",
            "`encoder.transformer.width` is 16388; write a number from 1 to 16384",
        ),
        (writing("layers = 0"), "8:1", "`decoder.transformer.layers` is 0; write a number from 1 to 64"),
        (writing("layers = 65"), "8:1", "`decoder.transformer.layers` is 65; write a number from 1 to 64"),
        (writing("heads = 0"), "8:1", "`decoder.transformer.heads` is 0; write a number from 1 to 8"),
        (writing("heads = 9"), "8:1", "`decoder.transformer.heads` is 9; write a number from 1 to 8"),
        (
            writing("feed_forward = 0"),
            "8:1",
            "`decoder.transformer.feed_forward` is 0; write a number from 1 to 65536",
        ),
        (writing("feed_forward = 65537"), "8:1", "`decoder.transformer.feed_forward` is 65537"),
        (
            writing("dropout = 1.0"),
            "8:1",
            "`decoder.transformer.dropout` is 1; write a share from 0 to below 1",
        ),
        (
            writing("embedding_dropout = -0.5"),
            "8:1",
            "`decoder.transformer.embedding_dropout` is -0.5; write a share",
        ),
        (
            writing("attention_dropout = nan"),
            "8:1",
            "`decoder.transformer.attention_dropout` is NaN; write a share",
        ),
        (
            writing("activation_dropout = 2.0"),
            "8:1",
            "`decoder.transformer.activation_dropout` is 2; write a share",
        ),
        (
            reading("layers = 64\nwidth = 16384"),
            "6:1",
            "`encoder.transformer.width` makes layers of 274877906944 parameters, and at most 2147483648 can be built; \
             write a smaller width, or fewer layers",
        ),
        (
            with(SINGLE_TRANSFORMER, "width = 8", "width = 8192\nlayers = 64"),
            "5:1",
            "`single.transformer.width` makes layers of",
        ),
        // Heads.
        (
            reading("width = 10\nheads = 4"),
            "5:1",
            "`encoder.transformer.width` is 10, which 4 heads cannot share evenly; write 8 or 12, or another number \
             of heads",
        ),
        (
            with(SINGLE_TRANSFORMER, "width = 8", "heads = 3"),
            "4:9",
            "`single.transformer.width` is 256, which 3 heads cannot share evenly; write 255 or 258",
        ),
        (
            writing("projections = false\nheads = 2"),
            "9:1",
            "`decoder.transformer.heads` is 2, but `projections = false` has one head; write `heads = 1`",
        ),
        (
            writing("projections = false"),
            "6:10",
            "`decoder.transformer.heads` is 4, but `projections = false` has one head; write `heads = 1`",
        ),
        (
            with(&writing("projections = false\nheads = 1"), "width = 8", "width = 16"),
            "8:1",
            "`decoder.transformer.projections` is false, which needs states as wide as the decoder, but the encoder \
             leaves 16 and decoder.transformer has 8; write one width in both",
        ),
        // Positions.
        (
            reading("width = 12\nheads = 4\npositions = \"rotary\""),
            "7:1",
            "`encoder.transformer.positions` is \"rotary\", which turns pairs of features, but a head has 3 of them; \
             write a width that is a multiple of 8",
        ),
        (
            writing("max_positions = 300"),
            "8:1",
            "`decoder.transformer.max_positions` is for `positions = \"learned\"`; remove it, or write that",
        ),
        (
            writing("positions = \"relative-clipped\"\nbuckets = 8"),
            "9:1",
            "`decoder.transformer.buckets` is for `positions = \"relative\"`; remove it, or write that",
        ),
        (
            writing("reach = 8"),
            "8:1",
            "`decoder.transformer.reach` is for `positions = \"relative\"` or `\"relative-clipped\"`; remove it",
        ),
        (
            writing("positions = \"relative-clipped\"\nreach = 0"),
            "9:1",
            "`decoder.transformer.reach` is 0; write a number from 1 to 16384",
        ),
        (
            writing("positions = \"relative\"\nbuckets = 7"),
            "9:1",
            "`decoder.transformer.buckets` is 7; write an even number from 4 to the reach of 128",
        ),
        (
            writing("positions = \"relative\"\nbuckets = 2"),
            "9:1",
            "`decoder.transformer.buckets` is 2; write an even",
        ),
        (
            writing("positions = \"relative\"\nbuckets = 0"),
            "9:1",
            "`decoder.transformer.buckets` is 0; write an even",
        ),
        (
            writing("positions = \"relative\"\nreach = 16"),
            "6:10",
            "`decoder.transformer.buckets` is 32; write an even number from 4 to the reach of 16",
        ),
        (
            writing("positions = \"learned\"\nmax_positions = 0"),
            "9:1",
            "`decoder.transformer.max_positions` is 0; write a number from 1 to 16384",
        ),
        (
            writing("positions = \"learned\"\nmax_positions = 20000"),
            "9:1",
            "`decoder.transformer.max_positions` is 20000; write a number from 1 to 16384",
        ),
        (
            and(&reading("positions = \"learned\"\nwidth = 8\nmax_positions = 20"), &lengths(20, 20)),
            "7:1",
            "`encoder.transformer.max_positions` is 20, but `train.max_length` lets sequences of 21 tokens in",
        ),
        (
            writing(&format!("positions = \"learned\"\nmax_positions = 20\n{}", lengths(20, 10))),
            "9:1",
            "`decoder.transformer.max_positions` is 20, but `train.max_length` lets sequences of 21 tokens in, their \
             end counted; write `max_positions = 21`, or a smaller `max_length`",
        ),
        (
            writing(&format!("positions = \"learned\"\nmax_positions = 21\n{}", lengths(20, 21))),
            "9:1",
            "`decoder.transformer.max_positions` is 21, but `search.max_length` lets 21 tokens be written; write \
             `max_positions = 22`, or a smaller `max_length`",
        ),
        (
            and(
                SINGLE_TRANSFORMER,
                &format!("positions = \"learned\"\nmax_positions = 41\n{}", lengths(20, 20)),
            ),
            "7:1",
            "`single.transformer.max_positions` is 41, but `train.max_length` lets sequences of 21 tokens in, their end \
             counted; write `max_positions = 42`",
        ),
        // What does not go together.
        (
            and(TRANSFORMER, "[attention]"),
            "8:2",
            "`attention` is for recurrent decoders, and [decoder.transformer] looks at the source in every layer; \
             remove it",
        ),
        (
            and(&with(PAIR, "decoder.lstm", "decoder.transformer"), "[attention]"),
            "8:2",
            "`attention` is for recurrent decoders",
        ),
        (and(SINGLE_TRANSFORMER, "[attention]"), "6:2", "`attention` needs an encoder and a decoder"),
        (
            and(TRANSFORMER, "[sharing]\nencoder_decoder = true"),
            "9:1",
            "`sharing.encoder_decoder` is for recurrent layers; layers of self-attention differ on the two sides: \
             remove it",
        ),
        (
            and(&with(PAIR, "encoder.lstm", "encoder.transformer"), "[sharing]\nencoder_decoder = true"),
            "9:1",
            "`sharing.encoder_decoder` is for recurrent layers",
        ),
        (
            and(&with(TRANSFORMER, "width = 8", "width = 16"), "[sharing]\nembeddings = true"),
            "9:1",
            "`sharing.embeddings` needs vectors of one width, but encoder.transformer has 16 and decoder.transformer \
             has 8",
        ),
        (
            and(SINGLE_TRANSFORMER, "[sharing]\nembeddings = true"),
            "7:1",
            "`sharing.embeddings` goes without saying",
        ),
        // Names.
        (writing("bridge = \"both\""), "8:1", "unknown field `bridge`"),
        (writing("positions = \"rotory\""), "8:13", "hint: did you mean `rotary`?"),
        (writing("norm = \"prae\""), "8:8", "hint: did you mean `pre`?"),
        (writing("activation = \"gellu\""), "8:14", "hint: did you mean `gelu`?"),
        (writing("head = 2"), "8:1", "hint: did you mean `heads`?"),
    ];
    check(cases);
}

/// An encoder with a head; [head] is line 6.
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
            "`encoder.transformer` sees every token from both sides, so there is nothing to tell; write \
             [encoder.lstm], or `task = \"masked-language-model\"`",
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

#[test]
fn data_and_tokens_that_make_no_sense_are_refused_where_they_stand() {
    let cases: Vec<(String, &str, &str)> = vec![
        (with(PAIR, "builtin = \"copy\"", ""), "2:2", "`data.train` is missing; write `train ="),
        (with(PAIR, "\"copy\"", "\"coppy\""), "3:1", "there is no built-in task `coppy`"),
        (with(PAIR, "\"copy\"", "\"dates\"\nmax_length = 3"), "4:1", "belongs to copy, reverse and sort"),
        (with(PAIR, "\"copy\"", "\"copy\"\ntrain = { tsv = \"a\" }"), "4:1", "exclude each other"),
        (with(FILES, "{ tsv = \"a\" }", "{ source = \"a\" }"), "3:1", "add `target"),
        (
            and(PAIR, "[tokens]\nkind = \"word\"\nsize = 5"),
            "10:1",
            "`tokens.size` is too small: a vocabulary",
        ),
        (and(PAIR, "[tokens]\nsize = 3000000000"), "9:1", "`tokens.size` is too big"),
        (
            and(PAIR, "[tokens]\nmax_examples = 0"),
            "9:1",
            "`tokens.max_examples` 0 leaves nothing to learn from",
        ),
        (
            and(PAIR, "[tokens]\nshared = true\n[tokens.source]\nkind = \"char\""),
            "9:1",
            "cannot differ by side",
        ),
    ];
    check(cases);
}

#[test]
fn what_is_not_known_or_of_the_wrong_kind_is_refused_where_it_stands() {
    let cases: Vec<(String, &str, &str)> = vec![
        (and(PAIR, "widht = 3"), "8:1", "hint: did you mean `width`?"),
        (with(PAIR, "encoder.lstm", "encoder.lsmt"), "4:10", "hint: did you mean `lstm`?"),
        (and(PAIR, "[trian]"), "8:2", "hint: did you mean `train`?"),
        (and(PAIR, "[train]\n stpes = 3"), "9:2", "hint: did you mean `steps`?"),
        (and(PAIR, "bridge = \"first\""), "8:10", "unknown variant `first`"),
        (with(PAIR, "translate", "translation"), "1:8", "hint: did you mean `translate`?"),
        (and(PAIR, "[train]\nsteps = \"many\""), "9:9", "invalid type: string \"many\", expected u64"),
        (and(PAIR, "[train]\nsteps = -1"), "9:9", "invalid value: integer `-1`, expected u64"),
        (and(PAIR, "[train]\noptimiser = \"adan\""), "9:13", "hint: did you mean `adam`?"),
        (with(PAIR, "task = \"translate\"\n", ""), "1:1", "missing field `task`"),
        (with(PAIR, "[data]\nbuiltin = \"copy\"\n", ""), "1:1", "missing field `data`"),
        (and(PAIR, "width = 8"), "8:1", "duplicate key"),
        (and(PAIR, "[train"), "8:", ""),
        (and(PAIR, "layers ="), "8:", ""),
        ("\u{0}".to_owned(), "1:", ""),
    ];
    check(cases);
}

fn check(cases: Vec<(String, &str, &str)>) {
    let mut wrong = Vec::new();
    for (text, place, message) in cases {
        let error = refused(&text);
        if !error.starts_with(&format!("a.toml:{place}")) || !error.contains(message) {
            wrong.push(format!("{error}\n  instead of a.toml:{place} … {message}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn keys_can_be_set_from_outside() {
    let file =
        parse(PAIR, &["train.steps=7", "encoder.lstm.width=16", "data.builtin=sort", "train.clip = 0.5"]);
    let config = file.expect("accepted").config;
    assert_eq!((config.train.steps, config.train.clip), (7, 0.5));
    assert_eq!(config.data.builtin.as_deref(), Some("sort"));
    assert_eq!(config.encoder.expect("an encoder").states(), 16);
    let again = parse(PAIR, &["train.steps=7"]).expect("accepted");
    assert_eq!(parse(&again.text, &[]).expect("the text that is kept").config, again.config);

    for (change, message) in [
        ("train.steps", "has no `=`"),
        ("task.kind=3", "`task` is a value and has no keys inside it"),
        ("train.stepz=3", "did you mean `steps`?"),
        ("train.steps=0", "`train.steps` is 0; write 1 or more"),
        ("train.steps=many", "invalid type: string \"many\""),
    ] {
        let error = parse(PAIR, &[change]).map(drop).expect_err(change);
        assert!(error.starts_with(&format!("--set {change}: ")) && error.contains(message), "{error}");
    }
}

#[test]
fn files_that_cannot_be_read_are_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let read = |name: &str| {
        ConfigFile::read(&folder.path().join(name), &[]).map(drop).expect_err("no configuration").to_string()
    };
    assert!(read("missing.toml").contains("missing.toml: cannot be read"), "{}", read("missing.toml"));
    std::fs::write(folder.path().join("bytes.toml"), [0xff, 0xfe]).expect("written");
    assert!(read("bytes.toml").contains("bytes.toml: cannot be read"), "{}", read("bytes.toml"));
    std::fs::write(folder.path().join("huge.toml"), vec![b'#'; 2 << 20]).expect("written");
    assert!(read("huge.toml").contains("huge.toml: is 2097152 bytes long"), "{}", read("huge.toml"));
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
