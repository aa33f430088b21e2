//! The `pavior slurm install` command, which writes the files that a cluster needs, each sealed
//! with a checksum in its first line. It writes nothing if it would overwrite a file that was
//! edited or was not written by Pavior. A site's own job_submit.lua is left unchanged.

use std::path::Path;

use pavior::files::{Limits, read_if_there, replace_public};
use pavior::text::shell_word;

use crate::setup::lists::{List, Lists};
use crate::setup::{permissions, unit};
use crate::{Config, SlurmError, gate};

/// The warning printed if the site's existing lists are unknown.
const UNKNOWN_CONFIG: &str = "There is no slurm.conf here and slurmctld is not responding; in \
                              these lines, keep any values that slurm.conf already sets.";

const CONF_LINES: &str = "slurm.conf.lines";
const UNIT: &str = "pavior-slurm.service";

/// Writes the gate module, `slurm.conf.lines` and `pavior-slurm.service` to a directory, and also
/// `job_submit.lua` unless the site has its own. Returns instructions. The systemd unit starts
/// `program` or, if users other than root can change `program`, the packaged program.
///
/// # Errors
/// Returns an error if a file cannot be written, or if an existing file was edited or was not
/// written by Pavior.
pub fn install(
    config: &Config,
    config_path: &Path,
    program: &Path,
    folder: &Path,
) -> Result<String, SlurmError> {
    let error = |error| SlurmError::of_path(folder, error);
    std::fs::create_dir_all(folder).map_err(error)?;
    let folder = std::path::absolute(folder).map_err(error)?;
    let writable = permissions::writable_by_others(program, 0);
    let start = if writable.is_some() { Path::new(unit::PACKAGED_PROGRAM) } else { program };
    let module = gate::module_name(config);
    let lists = Lists::near(&folder);
    let is_known = lists.is_some();
    let lists = lists.unwrap_or_default();
    let mut texts = vec![
        (folder.join(&module), gate::module(config)),
        (folder.join(CONF_LINES), conf_lines(config, &lists, is_known)),
        (folder.join(UNIT), gate::sealed("#", &unit::service_unit(config_path, start))),
    ];
    for (path, _) in &texts {
        if read_if_there(path, Limits::DOCUMENT)?.is_some_and(|text| !gate::is_sealed(&text)) {
            return Err(SlurmError::Conflict(format!(
                "{} has been edited or was not written by Pavior, so nothing was overwritten; \
                 move it elsewhere and run this command again",
                path.display()
            )));
        }
    }
    let script = JobSubmit::plan(config, &folder)?;
    texts.extend(script.text.map(|text| (folder.join(gate::JOB_SUBMIT), text)));
    for (path, text) in &texts {
        replace_public(path, text.as_bytes())?;
    }
    let mut lines = vec![
        format!("written to {}:", folder.display()),
        format!("  {module:<21} the gate; belongs next to slurm.conf"),
    ];
    lines.extend(script.instructions);
    lines.push(format!(
        "  {CONF_LINES:<21} add to slurm.conf, replacing lines with the same names; then restart \
         slurmctld"
    ));
    for list in [List::Licenses, List::Plugins] {
        lines.push(format!("  {:22}{}", "", lists.line(list, config)));
    }
    if !is_known {
        lines.push(format!("  {UNKNOWN_CONFIG}"));
    }
    lines.push(format!("  {UNIT:<21} belongs in /etc/systemd/system"));
    if let Some(path) = writable {
        lines.extend(copy_instructions(program, &path));
    }
    lines.push("then run: pavior slurm check".into());
    Ok(lines.join("\n") + "\n")
}

/// Generates the lines that slurm.conf needs, including the entries that the site already has.
fn conf_lines(config: &Config, lists: &Lists, is_known: bool) -> String {
    let line = |list: List| lists.line(list, config);
    let warning = if is_known { String::new() } else { format!("# {UNKNOWN_CONFIG}\n") };
    let text = format!(
        "# Add these lines to slurm.conf, replacing any lines with the same names, because\n# \
         Slurm uses only the last line with each name. Then restart slurmctld.\n{warning}{}\n{}\n# \
         To give jobs whole nodes and prevent them from shrinking:\n# PartitionName={} ... \
         OverSubscribe=EXCLUSIVE\n# {}\n# To start jobs sooner:\n# {}\n",
        line(List::Licenses),
        line(List::Plugins),
        config.partitions.join(","),
        line(List::Slurmctld),
        line(List::Scheduler)
    );
    gate::sealed("#", &text)
}

/// Formats the instructions printed if other users can change the program that root would run.
fn copy_instructions(program: &Path, writable: &Path) -> [String; 2] {
    let packaged = unit::PACKAGED_PROGRAM;
    [
        format!(
            "  Users other than root can change {}, so the unit starts {packaged} instead.",
            writable.display()
        ),
        format!(
            "  To copy the program there, run: install -o root -m 755 {} {packaged}",
            shell_word(&program.to_string_lossy())
        ),
    ]
}

/// Returns true if a job_submit.lua names the module in a string outside a comment.
fn is_called(module: &str, job_submit: &str) -> bool {
    job_submit.lines().any(|line| {
        let code = line.split("--").next().unwrap_or_default();
        code.split(['"', '\'']).any(|word| word.rsplit('/').next() == Some(module))
    })
}

/// The job_submit.lua that an installation writes or leaves unchanged.
struct JobSubmit {
    /// The text to write, or `None` if the site has its own file.
    text: Option<String>,
    /// Instructions for the administrator, one line each.
    instructions: Vec<String>,
}

impl JobSubmit {
    /// Adds the module to the directory's job_submit.lua unless that file is the site's own.
    fn plan(config: &Config, folder: &Path) -> Result<JobSubmit, SlurmError> {
        let module = gate::module_name(config);
        let path = folder.join(gate::JOB_SUBMIT);
        let existing = read_if_there(&path, Limits::DOCUMENT)?;
        let name = gate::JOB_SUBMIT;
        if existing.as_deref().is_none_or(gate::is_sealed) {
            let mut modules = existing.map_or(Vec::new(), |text| gate::modules(&text));
            modules.push(module);
            modules.sort_unstable();
            modules.dedup();
            // The file is written even if it is unchanged, to make Slurm reload the module.
            let text = Some(gate::job_submit(&modules));
            let instructions =
                vec![format!("  {name:<21} calls the gate; also belongs next to slurm.conf")];
            return Ok(JobSubmit { text, instructions });
        }
        let instructions = if existing.is_some_and(|text| is_called(&module, &text)) {
            vec![
                format!(
                    "  {name:<21} is the site's own script, already calls {module}, and was left \
                     unchanged."
                ),
                format!(
                    "  To make Slurm reload the gate, run: touch {}",
                    shell_word(&path.to_string_lossy())
                ),
            ]
        } else {
            vec![
                format!(
                    "  {name:<21} is the site's own script and was left unchanged. Add these lines \
                     at its end,"
                ),
                "  before it returns:".into(),
                gate::calls(config, folder).trim_end().into(),
            ]
        };
        Ok(JobSubmit { text: None, instructions })
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    const CONFIG: &str = "machine = \"mesh:4x2\"\nnodes = \"n{}\"\npartition = \"p\"\n";

    fn install_in(text: &str, folder: &Path) -> Result<String, SlurmError> {
        let config = Config::parse(text).unwrap();
        install(&config, Path::new("/c.toml"), Path::new("/pavior"), folder)
    }

    #[test]
    fn the_unit_does_not_start_a_program_that_others_can_change() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("my pavior");
        std::fs::write(&program, "").unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o777)).unwrap();
        let config = Config::parse(CONFIG).unwrap();
        let text = install(&config, Path::new("/c.toml"), &program, folder.path()).unwrap();
        let unit = std::fs::read_to_string(folder.path().join("pavior-slurm.service")).unwrap();
        assert!(unit.contains("\nExecStart=/usr/bin/pavior slurm --config /c.toml\n"), "{unit}");
        let line = format!("install -o root -m 755 '{}' /usr/bin/pavior\n", program.display());
        assert!(text.contains(&line), "{text}");
    }

    #[test]
    fn licenses_and_plugins_of_the_site_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let conf = "Licenses=matlab:4\nJobSubmitPlugins=require_timelimit\n";
        std::fs::write(folder.path().join("slurm.conf"), conf).unwrap();
        let text = install_in(CONFIG, folder.path()).unwrap();
        let lines = std::fs::read_to_string(folder.path().join("slurm.conf.lines")).unwrap();
        for line in ["Licenses=matlab:4,pavior:1", "JobSubmitPlugins=require_timelimit,lua"] {
            assert!(lines.lines().any(|one| one == line), "{lines}");
            assert!(text.lines().any(|one| one.trim() == line), "{text}");
        }
        assert!(!lines.contains(UNKNOWN_CONFIG) && !text.contains(UNKNOWN_CONFIG));
    }

    #[test]
    fn only_unedited_files_of_pavior_are_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| folder.path().join(name);
        let read = |name: &str| std::fs::read_to_string(file(name)).unwrap();
        install_in(CONFIG, folder.path()).unwrap();
        let first = read("pavior.lua");
        // Install a second machine in the same cluster.
        let other = CONFIG.replace("\"p\"", "\"q\"") + "licence = \"torus\"\n";
        install_in(&other, folder.path()).unwrap();
        assert!(read("job_submit.lua").contains("{ \"pavior-torus.lua\", \"pavior.lua\" }"));
        // Our own files are replaced by those for a larger machine.
        install_in(&CONFIG.replace("4x2", "8x8"), folder.path()).unwrap();
        assert!(first != read("pavior.lua") && read("pavior.lua").contains("mesh:8x8"));
        // These count as the site's own scripts; the last one is our file after an edit.
        let edited = read("job_submit.lua").replace("return", "\nreturn");
        for (own, calls) in [
            ("-- ours\n", false),
            ("-- TODO: dofile(\"pavior.lua\")\n", false),
            ("dofile(\"/etc/slurm/old-pavior.lua\")\n", false),
            ("local gate = dofile('/etc/slurm/pavior.lua')\n", true),
            (&edited, true),
        ] {
            std::fs::write(file("job_submit.lua"), own).unwrap();
            let text = install_in(CONFIG, folder.path()).unwrap();
            assert_eq!(read("job_submit.lua"), own);
            let line = format!("dofile(\"{}\")", file("pavior.lua").display());
            assert_eq!(text.contains(&line), !calls, "{text}");
        }
        // If one of the files cannot be replaced, none of them is replaced.
        std::fs::write(file(CONF_LINES), "# edited\n").unwrap();
        let larger = CONFIG.replace("4x2", "9x9");
        assert!(install_in(&larger, folder.path()).is_err());
        assert!(!read("pavior.lua").contains("mesh:9x9"));
        std::fs::write(file("pavior.lua"), first.replace("{ 4, 2 }", "{ 4, 4 }")).unwrap();
        let fault = install_in(CONFIG, folder.path()).unwrap_err().to_string();
        assert!(fault.contains("pavior.lua has been edited"), "{fault}");
    }
}
