use super::*;
use std::fs;

const CONFIGURATION: &str = "task = \"translate\"\n[train]\nsteps = 300\n";

/// A folder of runs, and what lies beside it.
fn folder() -> (tempfile::TempDir, Runs) {
    let place = tempfile::tempdir().unwrap();
    for run in ["runs/one", "runs/group/two", "beside/secret"] {
        let run = place.path().join(run);
        fs::create_dir_all(&run).unwrap();
        fs::write(run.join(CONFIG), CONFIGURATION).unwrap();
        let lines = "{\"kind\":\"train\",\"step\":100,\"loss\":2.5,\"seconds\":10.0}\n\
                     {\"kind\":\"train\",\"step\":150,\"loss\":2.25,\"seconds\":14.0}\n\
                     {\"kind\":\"valid\",\"step\":150,\"loss\":2.75,\"best\":true,\"exact_match\":null}\n\
                     {\"kind\":\"samples\",\"step\":150,\"examples\":[{\"source\":\"a\",\"reference\":\"b\",\"output\":\"c\"}]}\n\
                     no line\n\
                     {\"kind\":\"train\",\"step\":200,\"lo";
        fs::write(run.join(METRICS), lines).unwrap();
    }
    fs::create_dir_all(place.path().join("runs/empty")).unwrap();
    fs::create_dir_all(place.path().join("runs/.hidden")).unwrap();
    for file in [CONFIG, METRICS] {
        fs::copy(place.path().join("runs/one").join(file), place.path().join("runs/.hidden").join(file))
            .unwrap();
    }
    let runs = Runs::open(&place.path().join("runs")).unwrap();
    (place, runs)
}

#[test]
fn runs_are_found_one_and_two_levels_deep() {
    let (_place, runs) = folder();
    assert_eq!(runs.names(), ["group/two", "one"]);
    let info = runs.info("group/two").unwrap();
    assert_eq!((info.task.as_deref(), info.step, info.steps), (Some("translate"), 150, Some(300)));
    assert_eq!((info.train_loss, info.valid_loss, info.seconds), (Some(2.25), Some(2.75), Some(14.0)));
    assert_eq!(info.best, Some(BestValidation { step: 150, loss: Some(2.75) }));
    assert!(info.going_on, "it was just written");
}

#[test]
fn a_run_goes_on_while_it_writes_and_has_steps_left() {
    let (place, runs) = folder();
    let path = place.path().join("runs/one").join(METRICS);
    let an_hour_ago = SystemTime::now() - Duration::from_secs(3600);
    fs::File::options().write(true).open(&path).unwrap().set_modified(an_hour_ago).unwrap();
    assert!(!runs.info("one").unwrap().going_on, "it has been quiet for long");
    let done = "{\"kind\":\"train\",\"step\":300,\"loss\":1.5,\"seconds\":20.0}\n";
    fs::write(&path, done).unwrap();
    let info = runs.info("one").unwrap();
    assert_eq!(
        (info.step, info.going_on),
        (300, false),
        "all steps are made, and what was seen before is not told again"
    );
}

#[test]
fn nothing_outside_the_folder_is_read() {
    let (place, runs) = folder();
    let bad = [
        "",
        ".",
        "..",
        "../beside/secret",
        "one/..",
        "one/../one",
        "/etc",
        "group/two/three",
        "one/",
        "a\\b",
        "a\0b",
        ".hidden",
        "group//two",
        "./one",
        "no",
    ];
    for name in bad {
        let found = runs.info(name);
        assert!(matches!(found, Err(Refusal::Missing(_))), "{name}: {found:?}");
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::symlink;
        let runs_folder = place.path().join("runs");
        symlink(place.path().join("beside/secret"), runs_folder.join("link")).unwrap();
        symlink(place.path().join("beside"), runs_folder.join("group-link")).unwrap();
        symlink(runs_folder.join("one"), runs_folder.join("same")).unwrap();
        fs::create_dir_all(runs_folder.join("half")).unwrap();
        fs::write(runs_folder.join("half").join(CONFIG), CONFIGURATION).unwrap();
        symlink(place.path().join("beside/secret").join(METRICS), runs_folder.join("half").join(METRICS))
            .unwrap();
        assert_eq!(runs.names(), ["group/two", "one", "same"], "a link inside the folder is as good as any");
        for name in ["link", "group-link/secret", "half"] {
            assert!(runs.info(name).is_err(), "{name}");
        }
    }
    drop(place);
}

#[test]
fn what_is_too_large_is_refused() {
    let (place, runs) = folder();
    let run = place.path().join("runs/one");
    fs::File::options().write(true).open(run.join(METRICS)).unwrap().set_len(MOST_METRICS + 1).unwrap();
    assert!(matches!(runs.info("one"), Err(Refusal::Large(_))));
    fs::File::options()
        .write(true)
        .open(place.path().join("runs/group/two").join(CONFIG))
        .unwrap()
        .set_len(MOST_CONFIG + 1)
        .unwrap();
    assert!(matches!(runs.info("group/two"), Err(Refusal::Large(_))));
}

#[test]
fn curves_and_samples_are_those_of_the_file() {
    let (_place, runs) = folder();
    let gathered = |after| {
        let (metrics, _) = runs.metrics("one").unwrap();
        curves::gather(metrics, &Wanted { after, points: 1000 }).unwrap()
    };
    let Gathered { curves, samples } = gathered(None);
    let names: Vec<&str> = curves.iter().map(|curve| curve.name.as_str()).collect();
    assert_eq!(names, ["train.loss", "train.seconds", "valid.loss"]);
    assert_eq!((&curves[0].steps[..], &curves[0].values[..]), (&[100, 150][..], &[2.5, 2.25][..]));
    assert_eq!(samples.len(), 1);
    assert_eq!((samples[0].step, samples[0].examples[0].output.as_str()), (150, "c"));
    let new = gathered(Some(100));
    assert_eq!(new.curves[0].steps, [150]);
    assert!(gathered(Some(150)).curves.is_empty() && gathered(Some(150)).samples.is_empty());
}

#[test]
fn what_is_no_folder_is_refused() {
    let (place, _) = folder();
    for bad in ["nothing", "runs/one/config.toml"] {
        assert!(matches!(Runs::open(&place.path().join(bad)), Err(ServeError::Runs { .. })), "{bad}");
    }
}
