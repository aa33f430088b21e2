//! Tests that every change to the specification or the inputs that can affect a result also changes
//! the fingerprint.

#[path = "../../build/sources.rs"]
mod sources;

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use pavior_experiments::{InputError, InputFiles, ListRequest, LogRequest, Specification};
use pavior_workload::traces::{Format, Trace};
use pavior_workload::{FailureEvent, ReservedNodes, read_failures, read_reservations};

/// Input files, by name.
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

    fn failures(&self, request: &ListRequest) -> Result<Arc<Vec<FailureEvent>>, InputError> {
        let text = self.text(&request.path).as_bytes();
        Ok(Arc::new(read_failures(text, &request.grid, request.unit)?))
    }

    fn reservations(&self, request: &ListRequest) -> Result<Arc<Vec<ReservedNodes>>, InputError> {
        let text = self.text(&request.path).as_bytes();
        Ok(Arc::new(read_reservations(text, &request.grid, request.unit)?))
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
    // The fields are number, submit, run, size, estimate, status, user, group, application, queue
    // and partition.
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

#[test]
fn reservations_count() {
    let text = "machine = 'mesh:8x8'\nstrategy = 'ff'\nreservations = 'r'\n";
    let line = "{\"boxes\":[{\"base\":[1,2],\"sides\":[2,1]}],\"from\":60,\"to\":90}\n";
    let of_line = |line: &str| of(text, &Files(vec![("r", line.to_string())]));
    for (old, new) in [("60", "61"), ("90", "91"), ("[1,2]", "[2,2]"), ("[2,1]", "[2,2]")] {
        assert_ne!(of_line(&line.replace(old, new)), of_line(line), "{new}");
    }
    assert_ne!(of_line(&line.repeat(2)), of_line(line));
}

/// Returns the source files included in the build's digest, starting with this crate.
fn digested() -> sources::Sources {
    sources::Sources::of(Path::new(env!("CARGO_MANIFEST_DIR"))).unwrap()
}

#[test]
fn the_build_digests_every_crate_that_results_depend_on() {
    let tree = ["tree", "-p", "pavior-experiments", "-e", "normal", "--prefix", "none"];
    let output = Command::new(env!("CARGO"))
        .args(tree)
        .args(["--offline", "--format", "{p}", "--target", "all"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let sources = digested();
    let mut own = BTreeSet::new();
    for line in text.lines() {
        let mut words = line.split(' ');
        let (name, version) = (words.next().unwrap(), words.next().unwrap_or_default());
        if line.contains(" (/") && !line.contains("(proc-macro)") {
            own.insert(name.to_string());
        } else if !name.is_empty() {
            let library = format!("{name} {}", version.trim_start_matches('v'));
            assert!(sources.libraries.contains(&library), "{library} is not in the digest");
        }
    }
    assert!(own.contains("pavior-answers") && own.contains("pavior-experiments"), "{own:?}");
    assert_eq!(sources.crates.into_keys().collect::<BTreeSet<_>>(), own);
}

#[test]
fn a_change_in_any_crate_changes_the_digest() {
    let mut sources = digested();
    assert!(pavior_experiments::BUILD.ends_with(&sources.digest().unwrap()));
    let whole = sources.digest().unwrap();
    let copy = std::env::temp_dir().join(format!("pavior-sources-{}", std::process::id()));
    for name in sources.crates.keys().cloned().collect::<Vec<_>>() {
        let folder = sources.crates[&name].clone();
        // The copy differs from this crate only by one additional character in `lib.rs`.
        let _ = std::fs::remove_dir_all(&copy);
        copied(&folder.join("src"), &copy.join("src"));
        std::fs::copy(folder.join("Cargo.toml"), copy.join("Cargo.toml")).unwrap();
        sources.crates.insert(name.clone(), copy.clone());
        assert_eq!(sources.digest().unwrap(), whole, "{name}");
        let library = copy.join("src/lib.rs");
        let text = std::fs::read_to_string(&library).unwrap() + " ";
        std::fs::write(&library, text).unwrap();
        assert_ne!(sources.digest().unwrap(), whole, "{name}");
        sources.crates.insert(name, folder);
    }
    std::fs::remove_dir_all(&copy).unwrap();
    let first = sources.libraries.pop_first().unwrap();
    assert_ne!(sources.digest().unwrap(), whole, "{first}");
}

fn copied(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copied(&entry.path(), &to);
        } else {
            std::fs::copy(entry.path(), to).unwrap();
        }
    }
}
