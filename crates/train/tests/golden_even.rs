//! What looking evenly costs, against PyTorch's gradients (`tools/golden_vision_models.py`).

use burn::tensor::Device;
use gatto_data::images::ImageBatch;
use gatto_data::{Batch, Padded};
use gatto_kernels::crew::Crew;
use gatto_model::weights::{self, Weight, Weights};
use gatto_model::{Model, Task, Vocabularies};
use gatto_train::{ConfigFile, Lesson, gather};
use serde_json::Value;
use std::path::Path;

fn numbers(value: &Value) -> Vec<usize> {
    let number = |value: &Value| value.as_u64().expect("a whole number") as usize;
    value.as_array().expect("an array").iter().map(number).collect()
}

/// An array {"shape": […], "values": […]}.
fn array(value: &Value) -> Weight {
    let values = value["values"].as_array().expect("an array");
    let values = values.iter().map(|value| value.as_f64().expect("a number") as f32).collect();
    Weight { shape: numbers(&value["shape"]), values }
}

fn arrays(value: &Value) -> Weights {
    value.as_object().expect("arrays").iter().map(|(name, value)| (name.clone(), array(value))).collect()
}

#[test]
fn looking_evenly_costs_what_it_should() {
    let golden: Value =
        serde_json::from_str(include_str!("../../../tests/golden/vision_models.json")).expect("valid JSON");
    let golden = &golden["caption"];
    let text = format!(
        "task = \"caption\"\n[data]\ntrain = {{ images = \".\", tsv = \"a\" }}\n[images]\nheight = {}\nwidth = {}\n\
         [encoder.cnn]\nchannels = {}\ngroups = {}\nstem_stride = {}\n[decoder.lstm]\nwidth = {}\nembedding = {}\n\
         [attention]\nquery = \"previous\"\nwidth = {}\ngate = true\ndeep_output = true\ndoubly_stochastic = {}\n",
        golden["height"],
        golden["width"],
        golden["stages"],
        golden["groups"],
        golden["stem_stride"],
        golden["state"],
        golden["embedding"],
        golden["attention_width"],
        golden["even"]["cost"],
    );
    let file = ConfigFile::parse(Path::new("golden.toml"), text, ".".into(), &[]).expect("a configuration");
    let plan = file.config.plan().expect("a plan");
    let target = golden["vocabulary"].as_u64().expect("a number") as usize;
    let model = Model::new(&plan, Vocabularies { source: 1, target }, 1, &Device::flex().autodiff());
    let given = arrays(&golden["weights"]);
    let model = weights::install(model, given, Path::new("vision_models.json"), true).expect("all weights");

    let Weight { shape, values } = array(&golden["images"]);
    let [rows, height, width, channels] = shape[..] else { panic!("no images: {shape:?}") };
    let [_, time] = numbers(&golden["target"]["shape"])[..] else { panic!("not a matrix") };
    let target = Padded {
        ids: numbers(&golden["target"]["values"]).into_iter().map(|id| id as u32).collect(),
        lengths: numbers(&golden["target_lengths"]),
        rows,
        width: time,
    };
    let source = ImageBatch { values, rows, channels, height, width }.into();
    let batch = Batch { source, target, indices: (0..rows as u64).collect(), each: 1 };
    for (attention, expected) in
        [(None, &golden["gradients"]), (plan.attention.as_ref(), &golden["even"]["gradients"])]
    {
        let lesson = Lesson { task: Task::Caption, attention, ..Lesson::new(&file.config.train, 1, 1) };
        for threads in [1, 3] {
            let found = gather(&model, std::slice::from_ref(&batch), &lesson, &Crew::new(threads));
            let loss = found.loss / found.tokens as f64;
            let wanted = golden["loss"].as_f64().expect("a loss");
            assert!(
                (loss - wanted).abs() < 1e-5,
                "{loss} and not {wanted}: what is reported is the loss alone"
            );
            let expected = arrays(expected);
            assert!(found.gradients.keys().eq(expected.keys()));
            for (name, gradient) in &found.gradients {
                for (at, (a, b)) in gradient.values().iter().zip(&expected[name].values).enumerate() {
                    assert!((a - b).abs() <= 1e-5 * b.abs().max(1.0), "{name}[{at}]: {a} and not {b}");
                }
            }
        }
    }
}
