//! `pavior slurm lint` and `pavior slurm generate`: files for Slurm's topology/torus3d.

use std::path::Path;

use pavior_kernel::BadName;
use pavior_slurm::Config;
use pavior_slurm::torus3d::{self, Anchors, Choice, Effect, Finding, Mix, Place, Report};
use serde_json::{Value, json};

use crate::args::{AnchorArg, GenerateTopologyArgs, LintArgs, MixArgs};
use crate::failure::Failure;
use crate::output::{self, Format};
use crate::{files, logs};

/// The longest topology.yaml or list of sizes, in bytes.
const LONGEST: u64 = 4 << 20;

/// Judges a topology.yaml; exit status 1 if anything but notes is found.
pub(crate) fn lint(args: &LintArgs) -> Result<(), Failure> {
    let mix = mix(&args.mix)?;
    let text = text(&args.file)?;
    let read = torus3d::lint(&text, args.nodes.as_deref(), mix.as_ref());
    let report = read.map_err(|bad| match (bad.place, &args.nodes) {
        (Place { line: 0, .. }, Some(typed)) => Failure::option(
            "--nodes",
            typed,
            0,
            &BadName { reason: bad.reason, span: 0..typed.len() },
        ),
        (place, _) => {
            let at = offset(&text, place);
            Failure::in_file(&args.file, &text, bad.reason, &(at..at + 1))
        }
    })?;
    match Format::or_default(args.format) {
        Format::Json => output::json(&json(&args.file, &report))?,
        Format::Csv => csv(&args.file, &report)?,
        Format::Table => output::plain(&lines(&args.file, &report))?,
    }
    let found = report.findings.iter().filter(|one| one.effect != Effect::Note).count();
    match found {
        0 => Ok(()),
        1 => Err(Failure::Other("1 finding".to_string())),
        _ => Err(Failure::Other(format!("{found} findings"))),
    }
}

/// Writes a topology.yaml; exit status 1 if sizes of the mix are in no box.
pub(crate) fn generate(config: &Config, args: &GenerateTopologyArgs) -> Result<(), Failure> {
    let Some(mix) = mix(&args.mix)? else {
        return Err(Failure::usage("give the sizes of jobs: --mix, --mix-file or --log"));
    };
    let anchors = match args.anchors {
        AnchorArg::Aligned => Anchors::Aligned,
        AnchorArg::Any => Anchors::Any,
    };
    let choice = Choice { anchors, turn: args.turn };
    let made = torus3d::generate(config, &mix, choice).map_err(Failure::usage)?;
    match &args.out {
        Some(path) => files::write_whole(path, |file| file.write_all(made.yaml.as_bytes()))?,
        None => output::plain(&made.yaml)?,
    }
    made.complaint().map_or(Ok(()), |complaint| Err(Failure::Other(complaint)))
}

/// What jobs ask for, if it is said.
fn mix(args: &MixArgs) -> Result<Option<Mix>, Failure> {
    let read = args.read.settings();
    if let (None, Some(setting)) = (&args.log, read.first()) {
        return Err(Failure::usage(format!("--{} says what to read of a --log", setting.key)));
    }
    if let Some(typed) = &args.mix {
        let mix = Mix::read(typed).map_err(|bad| {
            Failure::option("--mix", typed, 0, &BadName { reason: bad.reason, span: bad.span })
        });
        return mix.map(Some);
    }
    if let Some(path) = &args.mix_file {
        let text = text(path)?;
        let mix = Mix::read(&text);
        return mix.map(Some).map_err(|bad| Failure::in_file(path, &text, bad.reason, &bad.span));
    }
    let Some(path) = &args.log else { return Ok(None) };
    let mix = Mix::of_log(&logs::read(path, &args.read)?);
    mix.map(Some).map_err(|bad| Failure::usage(format!("{}: {}", files::shown(path), bad.reason)))
}

fn text(path: &Path) -> Result<String, Failure> {
    Ok(pavior_files::read_text(path, files::lines().with_total(Some(LONGEST)))?)
}

/// The byte at a place.
fn offset(text: &str, place: Place) -> usize {
    let start: usize = text.split_inclusive('\n').take(place.line - 1).map(str::len).sum();
    let line = &text[start..];
    let column = line.char_indices().nth(place.column - 1);
    start + column.map_or(line.len(), |(at, _)| at)
}

/// A line each, and one for each size of the mix.
fn lines(file: &Path, report: &Report) -> String {
    let mut text = String::new();
    for Finding { place, effect, rule, message } in &report.findings {
        let at = format!("{}:{}:{}", files::shown(file), place.line, place.column);
        text += &format!("{at}: {} [{rule}]: {message}\n", effect.word());
    }
    for size in &report.sizes {
        let (fate, share) = (size.fate.word(), 100.0 * size.share);
        text += &format!(
            "{:>12}  {share:>7.3} %  {fate}  ({})\n",
            size.demand.to_string(),
            size.topology
        );
    }
    if text.is_empty() {
        text += "nothing found\n";
    }
    text
}

fn json(file: &Path, report: &Report) -> Value {
    let findings = report.findings.iter().map(|one| {
        json!({
            "file": files::shown(file),
            "line": one.place.line,
            "column": one.place.column,
            "effect": one.effect.word(),
            "rule": one.rule,
            "message": one.message,
        })
    });
    let sizes = report.sizes.iter().map(|one| {
        json!({
            "topology": one.topology,
            "asks": one.demand.to_string(),
            "nodes": one.demand.nodes(),
            "share": one.share,
            "fate": one.fate.word(),
        })
    });
    json!({ "findings": findings.collect::<Vec<_>>(), "mix": sizes.collect::<Vec<_>>() })
}

/// The findings, a row each.
fn csv(file: &Path, report: &Report) -> Result<(), Failure> {
    let row = |one: &Finding| {
        let (line, column) = (one.place.line.to_string(), one.place.column.to_string());
        let (effect, rule) = (one.effect.word().to_string(), one.rule.to_string());
        vec![files::shown(file), line, column, effect, rule, one.message.clone()]
    };
    let rows: Vec<Vec<String>> = report.findings.iter().map(row).collect();
    output::csv(&["file", "line", "column", "effect", "rule", "message"], &rows)
}
