//! Layers of self-attention.

use super::{PAIR, and, check, parse, with};

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
