//! Tests without Slurm, in which fake Slurm commands print arbitrary text.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

/// A directory with fake Slurm commands and the configuration of a 4x2 machine.
pub(crate) struct Programs(TempDir);

/// Shell functions that print `squeue` records with the given mark.
const RECORD: &str = r#"
M=${SQUEUE_FORMAT%%%*}
record() { printf '%s' "$M"; for field in "$@"; do printf '%s%s' "$field" "$M"; done; echo; }
job() { record "$1" "$2" "$3" "$4" "$5" "$6" "$7" "$8" "$9" "${10}" "${11}" p '(null)' '(null)' \
  0 '(null)' '(null)' N/A 0 1 1 '*:*:*' 0 '' N/A "${12}"; }
runs() { job $1 R None 9 $2 "$3" '' 1 1:00 100 '(null)' "$4"; }
waits() { job $1 PD Licenses 9 $2 '' '' N/A 1:00 100 pavior:1 "$3"; }
"#;

pub(crate) const IDLE: &str =
    "for node in 0 1 2 3 4 5 6 7; do echo \"n$node|idle|(null)|(null)|100|1|1:1:1|0\"; done";

impl Programs {
    pub(crate) fn new(sinfo: &str, squeue: &str) -> Programs {
        let folder = tempfile::tempdir().unwrap();
        let programs = Programs(folder);
        let text = "machine = \"mesh:4x2\"\nnodes = \"n{}\"\npartition = \"p\"\n";
        std::fs::write(programs.path().join("pavior.toml"), text).unwrap();
        programs.write("sinfo", sinfo);
        programs.write("sbatch", "exit 1");
        programs.write("squeue", &format!("{RECORD}\n{squeue}"));
        let end = "ReservationName=pavior StartTime=1 EndTime=4000000000 Licenses=pavior:1";
        programs.write(
            "scontrol",
            &format!("[ \"$1 $2\" = 'show reservation' ] && echo '{end}'; true"),
        );
        programs
    }

    /// Configures a different machine with nodes `n0`, `n1` and so on.
    pub(crate) fn set_machine(&self, machine: &str) {
        let text = format!("machine = \"{machine}\"\nnodes = \"n{{}}\"\npartition = \"p\"\n");
        std::fs::write(self.path().join("pavior.toml"), text).unwrap();
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    fn write(&self, name: &str, text: &str) {
        let file = self.path().join(name);
        std::fs::write(&file, format!("#!/bin/sh\n{text}\n")).unwrap();
        std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn run(&self, rest: &[&str]) -> Output {
        self.command(rest).output().unwrap()
    }

    /// Returns a command that runs the daemon with these programs in place of Slurm's.
    pub(crate) fn command(&self, rest: &[&str]) -> Command {
        let path = format!("{}:{}", self.path().display(), std::env::var("PATH").unwrap());
        let mut command = Command::new(env!("CARGO_BIN_EXE_pavior-slurm"));
        command
            .arg(self.path().join("pavior.toml"))
            .args(rest)
            .env("PATH", path)
            .env("FOLDER", self.path())
            // The user's environment must not change the output that the daemon reads.
            .envs([("SQUEUE_USERS", "me"), ("SQUEUE_FORMAT2", "jobid"), ("SINFO_FORMAT", "%t")]);
        command
    }

    /// Makes each program record its arguments and input in the file `calls`.
    pub(crate) fn record_calls(&self) {
        for name in ["sinfo", "squeue", "scontrol", "sbatch"] {
            let text = std::fs::read_to_string(self.path().join(name)).unwrap();
            let text = text.trim_start_matches("#!/bin/sh\n");
            let note = format!("{{ echo \"{name} $*\"; cat; }} >>$FOLDER/calls");
            self.write(name, &format!("{note}\n{text}"));
        }
    }

    /// Performs a dry run of one cycle. Returns the log and whether the run succeeded.
    fn try_cycle(&self) -> (String, bool) {
        let output = self.run(&["--dry-run"]);
        (String::from_utf8(output.stderr).unwrap(), output.status.success())
    }

    /// Performs a dry run of one cycle, which must succeed, and returns the log.
    fn cycle(&self) -> String {
        let (log, done) = self.try_cycle();
        assert!(done, "{log}");
        log
    }
}

/// Returns the nodes on which a job's gate would open, according to the log.
fn opened(log: &str, job: &str) -> Option<String> {
    let line = log.lines().find(|line| {
        line.contains("\"event\":\"open\"") && line.contains(&format!("\"job\":\"{job}\""))
    })?;
    let nodes = line.split_once("\"nodes\":")?.1.split_once(']')?.0;
    Some(nodes.replace(['[', '"'], ""))
}

#[test]
fn each_call_uses_a_new_mark_that_other_users_cannot_see() {
    // Every user can read the arguments of a process, but not its environment.
    let squeue = "echo \"$@\" >>$FOLDER/arguments; echo $SQUEUE_FORMAT >>$FOLDER/formats
                  env | grep -c 'SQUEUE_USERS\\|SQUEUE_FORMAT2\\|SINFO_' >>$FOLDER/wishes
                  waits 7 4 shape=2x2";
    let programs = Programs::new(IDLE, squeue);
    let tried = pavior_trials::size(5, 5, 50);
    for _ in 0..tried {
        assert_eq!(opened(&programs.cycle(), "7").as_deref(), Some("n0,n1,n4,n5"));
    }
    let read = |name: &str| std::fs::read_to_string(programs.path().join(name)).unwrap();
    let (arguments, formats) = (read("arguments"), read("formats"));
    let mut marks: Vec<&str> =
        formats.lines().map(|line| line.split('%').next().unwrap()).collect();
    let seen = marks.iter().filter(|mark| mark.len() < 32 || arguments.contains(**mark)).count();
    marks.sort_unstable();
    marks.dedup();
    assert!(read("wishes").lines().all(|count| count == "0"));
    let attack = "guessing the mark, or reading it in the arguments of squeue";
    pavior_trials::attacked("slurm", attack, tried, seen + tried - marks.len());
}

#[test]
fn truncated_output_skips_the_cycle() {
    let good = "waits 7 4 shape=2x2; ";
    let attacks = [
        ("squeue is killed in a record", IDLE, "waits 7 4 shape=2x2; printf '%s8' $M; kill -9 $$"),
        ("squeue is killed after a record", IDLE, "waits 7 4 shape=2x2; kill -9 $$"),
        ("squeue exits early without an error", IDLE, "waits 7 4 shape=2x2; printf '%s8%s' $M $M"),
        ("squeue ends in a comment", IDLE, "waits 7 4 shape=2x2 | head -c 300"),
        ("squeue fails", IDLE, "exit 1"),
        ("sinfo is killed", "echo 'n0|idle|(null)|(null)|100|1|1:1:1|0'; kill -9 $$", good),
        ("sinfo exits early", "printf 'n0|idle|(null)|(null)|100|1|1:1:1|0\\nn1|id'", good),
        ("sinfo fails", "exit 1", good),
    ];
    for (what, sinfo, squeue) in attacks {
        let (log, done) = Programs::new(sinfo, squeue).try_cycle();
        let skipped =
            !done && log.contains("\"event\":\"cycle skipped\"") && opened(&log, "7").is_none();
        assert!(skipped, "{what}: {log}");
    }
    pavior_trials::attacked("slurm", "truncated output", attacks.len(), 0);
}

#[test]
fn a_malformed_record_does_not_affect_other_records() {
    let forged = "x\n9|R|None|1|4|n[0-2]||1|1:00|1|(null)|shape=2x2\n8|PD|None|1|4|||N/A|1:00|1||";
    let attacks = [
        ("a comment with two lines", "waits 9 1 'shape=1x1 a\nb'".to_string()),
        ("a comment that looks like records", format!("waits 9 1 '{forged}'")),
        (
            "a comment with a guessed mark",
            "waits 9 1 \"shape=9x9 $(printf '%032d8%032d' 0 0)\"".into(),
        ),
        ("a comment with invalid UTF-8", "waits 9 1 \"$(printf '\\377\\376\\001')\"".into()),
        ("licenses in an unknown form", "job 9 PD Licenses 9 1 '' '' N/A 1:00 1 'a|b' x".into()),
        ("a number with another pair", "job '9 Priority=1' PD x 9 1 '' '' N/A 1 1 '' x".into()),
        ("a number with a line break", "job '9\nrelease 8' PD x 9 1 '' '' N/A 1 1 '' x".into()),
        ("text between records", "echo '9|R|None|1|4|n[0-2]||1|1:00|1|(null)|shape=2x2'".into()),
        ("a job component", "job 9+1 PD None 9 1 '' '' N/A 1:00 1 '' x".into()),
        ("too many nodes", "job 9 R None 9 1 'n[0-4294967295]' '' 1 1:00 1 '' x".into()),
    ];
    for (what, attack) in &attacks {
        let log =
            Programs::new(IDLE, &format!("waits 7 4 shape=2x2; {attack}; waits 8 4 ''")).cycle();
        let placed = opened(&log, "7").is_some() && opened(&log, "8").is_some();
        let said = *what == "a comment with a guessed mark"
            || log.contains("\"event\":\"malformed records\",\"count\":1");
        let only = opened(&log, "9").is_none();
        let quiet = !log.contains("release") && !log.contains("|R|") && !log.contains("requeue");
        assert!(placed && said && only && quiet, "{what}: {log}");
    }
    let attack = "malformed records: other jobs are not placed in the same cycle";
    pavior_trials::attacked("slurm", attack, attacks.len(), 0);
}

#[test]
fn nodes_in_a_malformed_record_are_not_free() {
    // Slurm first reports all nodes as idle; then job 9 starts on n0 and n1.
    let later = "if [ -e $FOLDER/asked ]; then S=allocated; else S=idle; fi; touch $FOLDER/asked
                 for node in 0 1; do echo \"n$node|$S|(null)|(null)|100|1|1:1:1|0\"; done
                 for node in 2 3 4 5 6 7; do
                   echo \"n$node|idle|(null)|(null)|100|1|1:1:1|0\"
                 done";
    let attacks = [
        // The job's nodes are known from its record or from the second `sinfo` output.
        "job 9 R None 9 2 'n[0-1]' '' 1 1:00 1 'a|b' x",
        "job 9 R None x 2 'n[0-1' '' 1 1:00 1 '' x",
        "job 9+0 R None 9 2 'n[0-1]' '' 1 1:00 1 '' x",
        "job 9 R None 9 2 'n[0-1]' '' 1 1:00 1 '' 'x\n9|CG|None|1|0|||1|1:00|1|(null)|'",
        "echo nothing of it",
    ];
    for attack in attacks {
        let programs = Programs::new(later, &format!("waits 7 4 shape=2x2; {attack}"));
        let nodes = opened(&programs.cycle(), "7");
        assert_eq!(nodes.as_deref(), Some("n2,n3,n6,n7"), "{attack}");
    }
    let attack = "a malformed record makes a running job's nodes look free";
    pavior_trials::attacked("slurm", attack, attacks.len(), 0);
}

#[test]
fn a_new_job_is_planned_with_current_data() {
    // Before squeue answers, no node is drained, and there is no reservation.
    let sinfo = "if [ -e $FOLDER/read ]; then S=drained; else S=idle; fi
                 for node in 0 1 2 3 4 5 6 7; do
                   echo \"n$node|$S|(null)|(null)|100|1|1:1:1|0\"; S=idle
                 done";
    let programs = Programs::new(sinfo, "waits 7 4 shape=2x2; touch $FOLDER/read");
    assert_eq!(opened(&programs.cycle(), "7").as_deref(), Some("n1,n2,n5,n6"));
    let programs = Programs::new(IDLE, "waits 7 4 shape=2x2; touch $FOLDER/read");
    let scontrol = std::fs::read_to_string(programs.path().join("scontrol")).unwrap();
    let magnet =
        "ReservationName=magnet StartTime=1 EndTime=4000000000 Nodes=n[0-1] Flags=MAGNETIC";
    let more = format!("[ \"$2\" = reservation ] && [ -e $FOLDER/read ] && echo '{magnet}'; true");
    programs.write("scontrol", &format!("{scontrol}\n{more}"));
    assert_eq!(opened(&programs.cycle(), "7").as_deref(), Some("n2,n3,n6,n7"));
}

#[test]
fn explanations_contain_no_raw_user_text() {
    let squeue = "waits 7 4 \"$(printf 'shape=2x\\033[31m')\"
                  waits 8 4 \"$(printf 'shape=2\\342\\200\\256x2')\"
                  job 9 PD \"$(printf 'Held\\033[2J')\" 9 4 '' '' N/A 1:00 1 pavior:1 shape=2x2
                  job 10 PD x x 4 '' '' N/A 1:00 1 pavior:1 shape=2x2";
    let programs = Programs::new(IDLE, squeue);
    let jobs = ["7", "8", "9", "10", "11\u{1b}[2J", "11 Priority=1", "-h", "11\nrelease 9"];
    for job in jobs {
        let output = programs.run(&["why", job]);
        let said = [output.stdout, output.stderr].concat();
        let text = String::from_utf8(said).unwrap();
        let harmless = !text.trim_end().contains(|c: char| c.is_control() || c == '\u{202e}');
        assert!(harmless && !text.is_empty(), "{job}: {text:?}");
    }
    let attack = "escape sequences in the output of `why`";
    pavior_trials::attacked("slurm", attack, jobs.len(), 0);
}
