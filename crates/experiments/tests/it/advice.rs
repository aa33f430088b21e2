//! Tests that the wording of advice matches the intervals, and that names are escaped.

use std::io::Write;

use pavior_experiments::advice::{
    Advice, AdviceError, Shown, Topic, advise, page, recommendations,
};
use pavior_experiments::{
    Environment, Folder, Keys, NoStore, Setting, Shard, Specification, report,
};
use pavior_files::Limits;

/// Writes a log of 600 jobs that keep a machine of 64 nodes busy. The jobs have three sizes, in
/// random order.
fn log(folder: &std::path::Path, name: &str) -> String {
    let mut draw = pavior_kernel::Stream::new(5, 0, "advice");
    let path = folder.join(name);
    let mut file = std::fs::File::create(&path).unwrap();
    let mut at = 0;
    for job in 0..600 {
        at += 20 + draw.below(80);
        let nodes = [3, 12, 40][draw.below(3) as usize];
        let run = 30 + draw.below(150);
        writeln!(file, "{job} {at} -1 {run} {nodes} -1 -1 -1 300 -1 1 7 -1 -1 -1 -1 -1 -1")
            .unwrap();
    }
    path.to_string_lossy().into_owned()
}

fn settings(log: &str, more: &[(&str, &str)]) -> Vec<Setting> {
    let present = [("trace", log), ("machine", "torus:8x8"), ("strategy", "tff")];
    let all = present.iter().chain(&[("scheduler", "easy")]).chain(more);
    all.map(|(key, value)| Setting::new(*key, *value)).collect()
}

fn advice(log: &str, more: &[(&str, &str)]) -> Result<Advice, AdviceError> {
    let folder = Folder::new("", Limits::LINES);
    let environment = Environment { files: &folder, ..Environment::PLAIN };
    advise(&settings(log, more), Some("4x4"), environment)
}

#[test]
fn values_are_those_of_a_simulation() {
    let folder = tempfile::tempdir().unwrap();
    let log = log(folder.path(), "log.swf");
    let advice = advice(&log, &[]).unwrap();
    let metrics: Vec<String> = advice.measures.iter().map(|one| one.metric.clone()).collect();
    let strategies = ["tff", "ff", "gabl"].map(String::from).to_vec();
    let mut all = settings(&log, &[("replications", "1")]);
    all.retain(|setting| setting.key != "strategy");
    all.push(Setting { key: "strategy".into(), values: strategies });
    all.push(Setting { key: "metrics".into(), values: metrics.clone() });
    let specification = Specification::from_settings(&all, "test", Keys::Options).unwrap();
    let files = Folder::new("", Limits::LINES);
    let environment = Environment { files: &files, ..Environment::PLAIN };
    let samples = specification.run(Vec::new(), Shard::WHOLE, environment, &mut NoStore).unwrap();
    let of = |name: &str| {
        advice.alternatives.iter().find(|one| one.name == name).map(|one| &one.run.values)
    };
    let runs = [&advice.present.values, of("strategy ff").unwrap(), of("strategy gabl").unwrap()];
    for (run, samples) in runs.into_iter().zip(&samples) {
        for (metric, value) in metrics.iter().zip(run) {
            let place = specification.metrics.iter().position(|spec| spec.name == metric).unwrap();
            let (simulated, value) = (samples[0].values[place].unwrap(), value.unwrap());
            assert!((simulated - value).abs() <= 1e-9 * simulated.abs().max(1.0), "{metric}");
        }
    }
    // If no jobs are rejected, each change must equal the alternative's value minus the current
    // value.
    for one in advice.alternatives.iter().filter(|one| one.run.rejected == 0) {
        for (place, change) in one.changes.iter().enumerate() {
            let difference = one.run.values[place].unwrap() - advice.present.values[place].unwrap();
            let change = change.unwrap();
            assert!((change.difference - difference).abs() < 1e-6, "{} {place}", one.name);
            assert!(change.half_width.unwrap() >= 0.0);
        }
    }
    let sizes: Vec<_> = advice.measures.iter().filter_map(|measure| measure.nodes).collect();
    // Both boundaries fall among the 12-node jobs, which stay together, so only two groups remain.
    assert_eq!(sizes, [[3, 12], [40, 40]]);
}

#[test]
fn each_alternative_changes_one_thing_and_sentences_follow_from_intervals() {
    let folder = tempfile::tempdir().unwrap();
    let log = log(folder.path(), "log.swf");
    let advice = advice(&log, &[]).unwrap();
    let names: Vec<&str> = advice.alternatives.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "strategy ff",
            "strategy bf:turn=all",
            "strategy gabl",
            "scheduler fcfs",
            "scheduler conservative",
            "freedom box",
            "freedom any-box",
            "freedom connected",
            "freedom any",
            "mesh:8x8",
            "torus:10x8",
            "torus:16x8",
            "failures"
        ]
    );
    assert!((advice.level - (1.0 - 0.05 / 13.0)).abs() < 1e-12);
    let said = recommendations(&advice).join("\n");
    for one in &advice.alternatives {
        let shown = one.changes[0].unwrap().shown();
        let with = format!("ith {}, jobs would have waited", one.words);
        let sentence = said.lines().find(|line| line.contains(&with));
        match shown {
            Shown::Nothing => {
                assert_eq!(sentence, None, "{}", one.name);
                let open = |line: &str| {
                    let named = line.contains(&one.name) || line.contains(&one.words);
                    line.starts_with("Wait times do not change") && named
                };
                // A separate sentence names the job sizes with a significant difference.
                let of_sizes = format!("With {}, jobs of ", one.words);
                let of_sizes = |line: &str| {
                    line.starts_with(&of_sizes)
                        && line.ends_with("no significant difference over all jobs.")
                };
                let sizes = advice.measures.iter().zip(&one.changes);
                let is_shown =
                    sizes.filter(|(measure, _)| measure.nodes.is_some()).any(|(_, change)| {
                        change.is_some_and(|change| change.shown() != Shown::Nothing)
                    });
                assert_eq!(said.lines().any(open), !is_shown, "{said}");
                assert_eq!(said.lines().any(of_sizes), is_shown, "{said}");
            }
            Shown::Less => assert!(sentence.unwrap().ends_with("less."), "{said}"),
            Shown::More => assert!(sentence.unwrap().ends_with("longer."), "{said}"),
        }
    }
    // With twice as many nodes, jobs must wait significantly less.
    let twice = advice.alternatives.iter().find(|one| one.name == "torus:16x8").unwrap();
    assert_eq!(twice.changes[0].unwrap().shown(), Shown::Less);
    let longest = said.lines().map(|line| line.split(' ').count()).max().unwrap();
    assert!(longest <= 35, "{said}");
}

#[test]
fn what_fails_is_part_of_the_present() {
    let folder = tempfile::tempdir().unwrap();
    let log = log(folder.path(), "log.swf");
    let advice = advice(&log, &[("mttf", "200000"), ("mttr", "600"), ("first", "400")]).unwrap();
    let failures: Vec<&str> = advice
        .alternatives
        .iter()
        .filter(|one| one.topic == Topic::Failures)
        .map(|one| one.name.as_str())
        .collect();
    assert_eq!(failures, ["no failures", "checkpoint 3600"]);
    assert_eq!(advice.jobs, 400);
    let lost = advice.measures.iter().position(|one| one.metric == "node_time_lost").unwrap();
    let none = advice.alternatives.iter().find(|one| one.name == "no failures").unwrap();
    assert!(none.changes[lost].unwrap().difference < 0.0);
    assert!(!none.run.command.contains("mttf") && advice.present.command.contains("--mttf 200000"));
}

#[test]
fn few_jobs_have_no_intervals_and_no_recommendation() {
    let folder = tempfile::tempdir().unwrap();
    let log = log(folder.path(), "log.swf");
    let advice = advice(&log, &[("first", "299")]).unwrap();
    let known = advice.alternatives.iter().flat_map(|one| &one.changes).flatten();
    assert!(known.clone().count() > 0);
    assert!(known.clone().all(|change| change.half_width.is_none()));
    let said = recommendations(&advice);
    assert_eq!(said.len(), 1);
    assert!(said[0].contains("require at least 300 jobs, but only 299 were compared"), "{said:?}");
}

#[test]
fn thirds_have_equally_many_jobs() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log.sim");
    std::fs::write(&log, "0 1 60\n1 2 60\n2 3 60\n").unwrap();
    let advice = advice(&log.to_string_lossy(), &[]).unwrap();
    let thirds: Vec<_> = advice.measures.iter().filter_map(|measure| measure.nodes).collect();
    assert_eq!(thirds, [[1, 1], [2, 2], [3, 3]]);
}

#[test]
fn names_break_no_page_and_no_command() {
    let folder = tempfile::tempdir().unwrap();
    let log = log(folder.path(), "<b>'&.swf");
    let advice = advice(&log, &[("first", "300")]).unwrap();
    let html = report::html(&page(&advice, &["<i>".to_string()]));
    assert!(!html.contains("<b>") && !html.contains("<i>"));
    assert!(html.contains("&lt;b&gt;"));
    assert!(!html.contains("<script") && !html.contains("src=") && !html.contains("href="));
    assert!(advice.present.command.contains(r"<b>'\''&.swf'"), "{}", advice.present.command);
}

#[test]
fn what_is_no_log_on_one_machine_is_refused() {
    let drawn = [Setting::new("machine", "torus:8x8"), Setting::new("strategy", "tff")];
    let refused = advise(&drawn, None, Environment::PLAIN);
    assert!(matches!(refused, Err(AdviceError::NotALog)), "{refused:?}");
    let folder = tempfile::tempdir().unwrap();
    let log = log(folder.path(), "log.swf");
    assert!(matches!(advice(&log, &[("freedom", "nonsense")]), Err(AdviceError::Setting(_))));
    let folder = Folder::new("", Limits::LINES);
    let environment = Environment { files: &folder, ..Environment::PLAIN };
    let slots = advise(&settings(&log, &[]), Some("4y4"), environment);
    assert!(slots.unwrap_err().to_string().contains("expected a shape, such as 4x4x4"));
}
