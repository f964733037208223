//! How a model is trained.

use super::{FILES, LANGUAGE, PAIR, and, check};

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
        (train("hardest = { share = 0.0 }"), "9:", "`train.hardest.share` is 0; write a number above 0"),
        (train("[train.hardest]\nshare = 1.5\nafter = 3"), "10:1", "`train.hardest.share` is 1.5"),
        (train("hardest = { share = nan }"), "9:", "`train.hardest.share` is NaN"),
        (
            files("patience = 2"),
            "7:1",
            "`train.patience` needs validation figures; write `valid` under [data]",
        ),
        (files("schedule = \"plateau\""), "7:1", "`train.schedule` needs validation figures"),
        (and(PAIR, "[search]\nmax_length = 0"), "9:1", "`search.max_length` must be from 1 to 100000"),
        (and(PAIR, "[search]\nmax_length = 100001"), "9:1", "`search.max_length` must be from 1 to 100000"),
        (
            and(LANGUAGE, "[search]\nbeam = 2\nmax_ratio = 2.0"),
            "8:1",
            "`search.max_ratio` is for translators",
        ),
    ];
    for key in
        ["steps", "accumulate", "log_every", "validate_every", "valid_examples", "checkpoint_every", "keep"]
    {
        cases.push((train(&format!("{key} = 0")), "9:1", "is 0; write 1 or more"));
    }
    check(cases);
}
