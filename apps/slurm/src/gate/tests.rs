//! Tests for the gate in a standalone Lua interpreter, if one is installed. `tests/it/gate.rs`
//! tests the gate in slurmctld.

use std::io::Write;
use std::process::{Command, Stdio};

use pavior_trials::{attacked, size, skipped};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::string::string_regex;
use proptest::test_runner::TestRunner;

use super::*;
use crate::plan::shape;

const CONFIG: &str = "machine = \"mesh:8x8\"\nnodes = \"n{:02}\"\npartition = \"mesh\"\n";

/// The part of slurmctld's scripting interface that the gate uses.
const SLURM: &str = r#"
slurm = { SUCCESS = 0, ERROR = -1, messages = "" }
function slurm.log_user(...) slurm.messages = slurm.messages .. string.format(...) .. "\n" end
slurm.log_error = slurm.log_user
parts = { mesh = { flag_default = 1 }, other = { flag_default = 0 } }
"#;

/// A script that reads comments, one per line, and prints their shapes.
const SHAPES: &str = r#"
for line in io.lines() do
  local sides, fault = pavior.shape_of(line)
  print(fault and "bad" or sides and table.concat(sides, "x") or "none")
end
"#;

/// Runs a script after loading the module for a configuration. If there is no interpreter, reports
/// the test as skipped and returns `None`.
fn lua(config: &Config, script: &str, input: String) -> Option<String> {
    let names = ["lua5.1", "lua5.3", "lua5.4", "lua"];
    let is_installed = |name: &&&str| Command::new(name).arg("-v").output().is_ok();
    let Some(name) = names.iter().find(is_installed) else {
        skipped("the gate without Slurm", "Lua is not installed", "PAVIOR_REQUIRE_LUA");
        return None;
    };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pavior.lua");
    std::fs::write(&file, module(config)).unwrap();
    let script = format!("{SLURM}\nlocal pavior = dofile(\"{}\")\n{script}", file.display());
    let mut child = Command::new(name)
        .args(["-e", &script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output().unwrap();
    let _ = writer.join();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).unwrap())
}

fn config() -> Config {
    Config::parse(CONFIG).unwrap()
}

/// Returns the shape that the daemon reads from a comment.
fn read(comment: &str) -> String {
    match shape::read(comment, 2) {
        Ok(Some([a, b, _])) => format!("{a}x{b}"),
        Ok(None) => "none".into(),
        Err(_) => "bad".into(),
    }
}

fn cases() -> Vec<(&'static str, &'static str)> {
    let lines = include_str!("shapes.txt").lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| line.split_once('\t').unwrap()).collect()
}

#[test]
fn the_daemon_parses_each_comment_in_the_table() {
    assert!(cases().len() > 50);
    for (comment, expected) in cases() {
        assert_eq!(read(comment), expected, "{comment}");
    }
}

/// Checks the examples in docs/slurm-users.md.
#[test]
fn node_counts_become_boxes() {
    let mut shaper = crate::plan::request::shaper(&config().grid);
    let mut shape = |nodes| shaper.request(nodes).shape;
    assert_eq!([shape(5), shape(12)], [Some([5, 1, 1]), Some([4, 3, 1])]);
    assert_ne!(shape(11).map(pavior::boxes::volume), Some(11));
}

#[test]
fn the_gate_parses_each_comment_in_the_table() {
    let mut comments: Vec<&str> = cases().iter().map(|(comment, _)| *comment).collect();
    comments.push("");
    let comments = comments.join("\n");
    let Some(read) = lua(&config(), SHAPES, comments) else { return };
    let read: Vec<&str> = read.lines().collect();
    assert_eq!(read.len(), cases().len());
    for ((comment, expected), read) in cases().into_iter().zip(read) {
        assert_eq!(read, expected, "{comment}");
    }
}

#[test]
fn attack_gate_and_daemon_parse_comments_identically() {
    let near = "([ ,;a_]|[Ss]hapes?|SHAPE| = |=|:|\"|[0-9]{1,6}|[xX*×]|4x4|\u{a0}|é){0,9}";
    let near = string_regex(near).unwrap();
    let any = string_regex("[^\\n]{0,24}").unwrap();
    let mut runner = TestRunner::new(ProptestConfig::default());
    let tried = size(5_000, 20_000, 1_000_000);
    let mut draw = |at: usize| match at % 4 {
        0 => any.new_tree(&mut runner).unwrap().current(),
        _ => near.new_tree(&mut runner).unwrap().current(),
    };
    // The script reads one comment per line, so comments must not contain control characters.
    let comments: Vec<String> = (0..tried).map(|at| draw(at).replace(['\r', '\0'], "")).collect();
    let lines = comments.join("\n") + "\n";
    let Some(answers) = lua(&config(), SHAPES, lines) else { return };
    let differ = |(comment, answer): &(&String, &str)| read(comment) != **answer;
    let wrong: Vec<_> = comments.iter().zip(answers.lines()).filter(differ).take(8).collect();
    assert_eq!(answers.lines().count(), tried);
    println!("{wrong:?}");
    attacked("slurm", "comments that gate and daemon parse differently", tried, wrong.len());
}

/// Returns the gate's response to a job given as Lua source.
fn verdict(job: &str) -> Option<String> {
    let script = format!(
        "local job = {job}\nlocal rc = pavior.submit(nil)(job, parts, 7)\n\
         print(rc, job.min_nodes, job.licenses, slurm.messages)"
    );
    lua(&config(), &script, String::new())
}

#[test]
fn unsupported_requirements_are_rejected() {
    for (job, word) in [
        ("min_nodes = 4, features = '[a|b]'", "a constraint may contain only"),
        ("min_nodes = 4, features = '{a|b}'", "a constraint may contain only"),
        ("min_nodes = 4, features = 'a*2&b'", "a constraint may contain only"),
        ("min_nodes = 4, prefer = 'a'", "--prefer"),
        ("min_nodes = 4, tres_per_job = 'gres:gpu:4'", "--gpus"),
        ("min_nodes = 4, tres_per_socket = 'gres/gpu:4'", "--gpus-per-socket"),
        ("min_nodes = 4, tres_per_task = 'cpu=2,gres/gpu=1'", "--gpus-per-task"),
        ("min_nodes = 4, mem_per_tres = 'gres/gpu:1'", "--mem-per-gpu"),
        ("min_nodes = 4, min_mem_per_cpu = 100", "--mem-per-cpu"),
        ("min_nodes = 4, ntasks_per_socket = 2", "--ntasks-per-socket"),
        ("min_nodes = 4, features = '!a'", "a constraint may contain only"),
        ("min_nodes = 4, contiguous = 1", "--contiguous"),
        ("min_nodes = 4, req_switch = 1", "--switches"),
        ("min_nodes = 4, segment_size = 2", "--segment"),
        ("min_nodes = 4, shared = 4", "--exclusive=topo"),
        ("min_nodes = 4, req_nodes = 'n01'", "nodes are chosen"),
        ("min_nodes = 4, exc_nodes = 'n01;'", "--exclude"),
        ("min_nodes = 3, max_nodes = 11", "no box has 11"),
        ("comment = '100%d shape=4%s'", "is not a valid shape"),
        ("comment = 'shape=9x1'", "does not fit"),
        ("min_nodes = 4, partition = 'mesh,other'", "other partitions"),
        ("min_nodes = 4, comment = 'shape=2x2', partition = 'other'", "only in partition mesh"),
    ] {
        let Some(reply) = verdict(&format!("{{ {job} }}")) else { return };
        assert!(reply.starts_with("-1\t") && reply.contains(word), "{job}: {reply}");
    }
}

#[test]
fn requirements_per_node_are_accepted() {
    for (job, expected) in [
        (
            "features = '(a|b)&c,d', exc_nodes = 'n[00-03],n07', tres_per_node = 'gres/gpu:2'",
            "0\t4",
        ),
        ("tres_per_task = 'cpu=2', threads_per_core = 1, sockets_per_node = 65535", "0\t4"),
        (
            "cores_per_socket = 65534, contiguous = 65534, req_switch = 4294967294, shared = 1",
            "0\t4",
        ),
        ("licenses = 'matlab:2'", "0\t4\tmatlab:2,pavior:1"),
        ("features = 'a@1%', sockets_per_node = 2, cores_per_socket = 8, min_cpus = 10", "0\t4"),
        ("partition = 'other', tres_per_job = 'gres:gpu:4'", "0\t4\tnil"),
    ] {
        let Some(reply) = verdict(&format!("{{ min_nodes = 4, {job} }}")) else { return };
        assert!(reply.starts_with(expected), "{job}: {reply}");
    }
    let Some(reply) = verdict("{ comment = 'Shape = 2X3', partition = 'mesh' }") else { return };
    assert!(reply.starts_with("0\t6\tpavior:1"), "{reply}");
}

#[test]
fn functions_of_the_site_run_first_and_cannot_open_the_gate() {
    let script = r#"
local submit = pavior.submit(function(job)
  if job.name == "no" then return -7 end
  if job.name == "broken" then error("a fault: 100%d") end
  if job.name == "moved" then job.partition = "other" end
end)
local modify = pavior.modify(function(change) if change.name == "no" then return -7 end end)
local function try(name, partition)
  local job = { name = name, min_nodes = 2, partition = partition }
  local fine, rc = pcall(submit, job, parts, 7)
  print(name, fine and rc, job.licenses)
end
try("plain") try("no") try("broken") try("broken", "other") try("moved")
print(modify({ name = "no" }, { partition = "mesh" }, parts, 7))
print(modify({ comment = "a" }, { partition = "mesh" }, parts, 7))
print(modify({ comment = "a" }, { partition = "mesh" }, parts, 0))
print(modify({ comment = "a" }, { partition = "other" }, parts, 7))
print(modify({ exc_nodes = "n01" }, { partition = "mesh" }, parts, 7))
print(modify({ features = "[a|b]" }, { partition = "mesh" }, parts, 7))
print(modify({ min_cpus = 9 }, { partition = "mesh" }, parts, 7))
print(modify({ min_cpus = 4294967294, time_limit = 3 }, { partition = "mesh" }, parts, 7))
"#;
    let Some(reply) = lua(&config(), script, String::new()) else { return };
    let expected = "plain\t0\tpavior:1\nno\t-7\tnil\nbroken\t-1\tnil\nbroken\tfalse\tnil\n\
                    moved\t0\tnil\n-7\n-1\n0\n0\n0\n-1\n-1\n0\n";
    assert_eq!(reply, expected);
}

#[test]
fn two_machines_of_a_cluster_have_separate_gates() {
    let other = CONFIG.replace("\"mesh\"", "\"other\"") + "licence = \"torus\"\n";
    let other = Config::parse(&other).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("other.lua");
    std::fs::write(&file, module(&other)).unwrap();
    let script = format!(
        "local other = dofile(\"{}\")\nlocal submit = other.submit(pavior.submit(nil))\n\
         for _, partition in ipairs({{ 'mesh', 'other', 'third' }}) do\n\
         local job = {{ partition = partition, comment = 'shape=2x2' }}\n\
         print(submit(job, parts, 7), job.licenses)\nend",
        file.display()
    );
    let Some(reply) = lua(&config(), &script, String::new()) else { return };
    assert_eq!(reply, "0\tpavior:1\n0\ttorus:1\n-1\tnil\n");
}

#[test]
fn an_edit_breaks_the_seal() {
    let module = module(&config());
    assert!(is_sealed(&module) && module.contains(checksum(&module).unwrap()));
    assert!(!is_sealed(&module.replace("8, 8", "8, 9")) && !is_sealed("") && !is_sealed("-- a\n"));
    let ours = job_submit(&["a.lua".into(), "b.lua".into()]);
    assert!(is_sealed(&ours));
    assert_eq!(modules(&ours), ["a.lua", "b.lua"]);
}

#[test]
fn without_modules_each_job_is_accepted() {
    let script = format!("local function load()\n{}end\nload()\n", job_submit(&[]));
    let script = script + "print(slurm_job_submit(), slurm_job_modify())";
    let Some(reply) = lua(&config(), &script, String::new()) else { return };
    assert_eq!(reply, "0\t0\n");
}
