//! Fingerprints: different for whatever can change a result, in the specification or in its inputs.

use std::sync::Arc;

use pavior_experiments::{FailureRequest, InputError, InputFiles, LogRequest, Specification};
use pavior_workload::traces::{Format, Trace};
use pavior_workload::{FailureEvent, read_failures};

/// Files by name.
struct Files(Vec<(&'static str, String)>);

impl Files {
    fn text(&self, path: &str) -> &str {
        &self.0.iter().find(|(name, _)| *name == path).unwrap().1
    }
}

impl InputFiles for Files {
    fn log(&self, request: &LogRequest) -> Result<Arc<Trace>, InputError> {
        let format = Format::of_file(&request.path).unwrap();
        Ok(Arc::new(format.read(self.text(&request.path).as_bytes(), &request.options)?))
    }

    fn failures(&self, request: &FailureRequest) -> Result<Arc<Vec<FailureEvent>>, InputError> {
        let text = self.text(&request.path).as_bytes();
        Ok(Arc::new(read_failures(text, &request.grid, request.unit)?))
    }
}

fn of(text: &str, files: &Files) -> String {
    Specification::parse(text, "test").unwrap().fingerprint(files).unwrap()
}

const LOG: &str = "1 0 -1 60 4 -1 -1 4 90 -1 1 7 1 3 1 2 -1 -1\n\
                   2 10 -1 100 16 -1 -1 16 200 -1 1 7 1 3 2 1 -1 -1\n";
const SIM: &str = "0 2 3 1 5\n1 2 2 1 6\n";
const EVENT: &str = "{\"op\":\"fail\",\"node\":[1,1],\"at\":60}\n";

#[test]
fn every_field_of_a_log_counts() {
    let text = "trace = 'a.swf'\nmachine = 'mesh:8x8'\nstrategy = 'ff'\n";
    let whole = of(text, &Files(vec![("a.swf", LOG.to_string())]));
    // Number, submit, run, size, estimate, status, user, group, application, queue, partition.
    for field in [0, 1, 3, 4, 8, 10, 11, 12, 13, 14, 15] {
        let mut words: Vec<String> = LOG.split(' ').map(String::from).collect();
        words[field] = (words[field].parse::<u64>().unwrap() + 1).to_string();
        let changed = Files(vec![("a.swf", words.join(" "))]);
        assert_ne!(of(text, &changed), whole, "field {}", field + 1);
    }
    let lines: Vec<&str> = LOG.lines().collect();
    assert_ne!(of(text, &Files(vec![("a.swf", format!("{}\n", lines[0]))])), whole);
}

#[test]
fn shapes_count() {
    let text = "trace = 'a.sim'\nmachine = 'mesh:8x8'\nstrategy = 'ff'\n";
    let whole = of(text, &Files(vec![("a.sim", SIM.to_string())]));
    let turned = SIM.replace("2 3 1", "3 2 1");
    assert_ne!(of(text, &Files(vec![("a.sim", turned)])), whole);
}

#[test]
fn jobs_that_move_from_one_log_to_the_next_count() {
    let text = "trace = ['a.swf', 'b.swf']\nmachine = 'mesh:8x8'\nstrategy = 'ff'\n";
    let lines: Vec<&str> = LOG.lines().collect();
    let files = |first: &[&str], second: &[&str]| {
        let text = |lines: &[&str]| lines.join("\n") + "\n";
        Files(vec![("a.swf", text(first)), ("b.swf", text(second))])
    };
    let one = of(text, &files(&lines[..1], &[lines[1], lines[1]]));
    let other = of(text, &files(&[lines[0], lines[1]], &lines[1..]));
    assert_ne!(one, other);
}

#[test]
fn failures_and_how_logs_are_replayed_count() {
    let text = "trace = 'a.swf'\nmachine = 'mesh:8x8'\nstrategy = 'ff'\nfailures = 'f'\n";
    let files = |events: &str| Files(vec![("a.swf", LOG.to_string()), ("f", events.to_string())]);
    let whole = of(text, &files(EVENT));
    assert_ne!(of(text, &files(&EVENT.replace("60", "61"))), whole);
    assert_ne!(of(text, &files(&EVENT.replace("1,1", "1,2"))), whole);
    for more in ["kill = true", "estimates = 'exact'", "seed = 2", "checkpoint = 5", "warmup = 1"] {
        assert_ne!(of(&format!("{text}{more}\n"), &files(EVENT)), whole, "{more}");
    }
    assert_eq!(of(&format!("{text}title = 'b'\n"), &files(EVENT)), whole);
}
