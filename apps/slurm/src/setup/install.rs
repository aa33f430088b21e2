//! `pavior slurm install`: writes the files that a cluster needs, sealed by a checksum in the first
//! line. The command writes nothing if it would overwrite a file that was edited or not written by
//! Pavior. A site may have its own job_submit.lua, which is left unchanged.

use std::path::Path;

use crate::setup::lists::{List, Lists};
use crate::setup::{files, permissions, unit};
use crate::{Config, SlurmError, gate};

/// The warning if the site's existing lists are unknown.
const UNKNOWN_CONFIG: &str = "There is no slurm.conf here and slurmctld does not answer: keep the \
                       existing values of these lines.";

/// Generates the lines that slurm.conf needs, including the site's own entries.
fn lines(config: &Config, lists: Option<&Lists>) -> String {
    let line = |list: List| lists.unwrap_or(&Lists::default()).line(list, config);
    gate::sealed(&format!(
        "# Written by pavior slurm install, checksum @CHECKSUM@.\n# Add these lines to slurm.conf, \
         replacing lines with the same names\n# (Slurm uses only the last of several), and restart \
         slurmctld.\n{}{}\n{}\n# To give jobs whole nodes and prevent them from shrinking:\n\
         # PartitionName={} ... OverSubscribe=EXCLUSIVE\n# {}\n# To start jobs sooner:\n# {}\n",
        lists.map_or(format!("# {UNKNOWN_CONFIG}\n"), |_| String::new()),
        line(List::Licences),
        line(List::Plugins),
        config.partitions.join(","),
        line(List::Slurmctld),
        line(List::Scheduler)
    ))
}

/// Generates the sealed systemd unit.
fn unit(config_path: &Path, program: &Path) -> String {
    let seal = "# Written by pavior slurm install, checksum @CHECKSUM@.\n";
    gate::sealed(&(seal.to_string() + &unit::service_unit(config_path, program)))
}

/// Writes the gate module, `slurm.conf.lines` and `pavior-slurm.service` to a folder, and
/// `job_submit.lua` unless the site has its own. Returns instructions. The systemd unit starts
/// `program` or, if users other than root can change it, the packaged program.
///
/// # Errors
/// Returns an error if a file cannot be written, or if a file with the same name was not written by
/// Pavior.
pub fn install(
    config: &Config,
    config_path: &Path,
    program: &Path,
    folder: &Path,
) -> Result<String, SlurmError> {
    let error = |error| files::io_error(folder, error);
    std::fs::create_dir_all(folder).map_err(error)?;
    let folder = std::path::absolute(folder).map_err(error)?;
    let open = permissions::changed_by_others(program, 0);
    let started = if open.is_some() { Path::new(unit::PACKAGED_PROGRAM) } else { program };
    let module = gate::module_name(config);
    let lists = Lists::beside(&folder);
    let mut written = vec![
        (folder.join(&module), gate::module(config)),
        (folder.join("slurm.conf.lines"), lines(config, lists.as_ref())),
        (folder.join("pavior-slurm.service"), unit(config_path, started)),
    ];
    for (path, _) in &written {
        if files::read(path)?.is_some_and(|text| !gate::is_sealed(&text)) {
            return Err(SlurmError::Config(format!(
                "{} has been edited, or was not written by Pavior, and is not overwritten: move it \
                 away and run this again",
                path.display()
            )));
        }
    }
    let (told, caller) = job_submit(config, &folder, &module)?;
    written.extend(caller.map(|text| (folder.join(JOB_SUBMIT), text)));
    for (path, text) in &written {
        files::write(path, text)?;
    }
    let open = open.map_or(String::new(), |open| own_program(program, &open));
    let known = lists.is_some();
    let lists = lists.unwrap_or_default();
    let own = [List::Licences, List::Plugins];
    let own = own.map(|list| format!("  {:22}{}\n", "", lists.line(list, config)));
    let note = if known { String::new() } else { format!("  {UNKNOWN_CONFIG}\n") };
    Ok(format!(
        "written to {}:\n  {module:<21} the gate; belongs next to slurm.conf\n{told}  \
         slurm.conf.lines      add to slurm.conf, replacing lines with the same names; then \
         restart slurmctld\n{own}{note}  pavior-slurm.service  belongs in \
         /etc/systemd/system\n{open}then run: pavior slurm check\n",
        folder.display(),
        own = own.concat()
    ))
}

/// Formats the instructions if other users can change the program that root would run.
fn own_program(program: &Path, open: &Path) -> String {
    format!(
        "  It starts {}, because users other than root can change {}.\n  To copy the program \
         there, run: install -o root -m 755 {} {}\n",
        unit::PACKAGED_PROGRAM,
        open.display(),
        program.display(),
        unit::PACKAGED_PROGRAM
    )
}

const JOB_SUBMIT: &str = "job_submit.lua";

/// Returns instructions, and the text of job_submit.lua unless the site has its own file.
fn job_submit(
    config: &Config,
    folder: &Path,
    module: &str,
) -> Result<(String, Option<String>), SlurmError> {
    let path = folder.join(JOB_SUBMIT);
    let standing = files::read(&path)?;
    if let Some(text) = standing.as_deref().filter(|text| !gate::is_sealed(text)) {
        let path = path.display();
        if text.starts_with(gate::OLDER) {
            return Err(SlurmError::Config(format!(
                "{path} is the gate of an earlier version and may have been edited: move it away \
                 and run this again"
            )));
        }
        let told = if text.contains(module) {
            format!(
                "  job_submit.lua        is the site's own, already calls {module}, and was left \
                 unchanged.\n  To make Slurm reload the gate, run: touch {path}\n"
            )
        } else {
            format!(
                "  job_submit.lua        is the site's own and was left unchanged. Add these lines \
                 at its end,\n  before it returns:\n{}",
                gate::calls(config, folder)
            )
        };
        return Ok((told, None));
    }
    let mut modules = standing.map_or(Vec::new(), |text| gate::modules(&text));
    modules.push(module.to_string());
    modules.sort_unstable();
    modules.dedup();
    // The file is written even if it has not changed, to make Slurm reload the module.
    let told = "  job_submit.lua        calls the gate; also belongs there\n";
    Ok((told.into(), Some(gate::job_submit(&modules))))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    const CONFIG: &str = "machine = \"mesh:4x2\"\nnodes = \"n{}\"\npartition = \"p\"\n";

    fn put(text: &str, folder: &Path) -> Result<String, SlurmError> {
        let config = Config::parse(text).unwrap();
        install(&config, Path::new("/c.toml"), Path::new("/pavior"), folder)
    }

    #[test]
    fn root_is_not_told_to_run_what_others_can_change() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("pavior");
        std::fs::write(&program, "").unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o777)).unwrap();
        let config = Config::parse(CONFIG).unwrap();
        let told = install(&config, Path::new("/c.toml"), &program, folder.path()).unwrap();
        let unit = std::fs::read_to_string(folder.path().join("pavior-slurm.service")).unwrap();
        assert!(unit.contains("\nExecStart=/usr/bin/pavior slurm --config /c.toml\n"), "{unit}");
        let line = format!("install -o root -m 755 {} /usr/bin/pavior\n", program.display());
        assert!(told.contains(&line), "{told}");
    }

    #[test]
    fn a_sites_own_licences_and_plugins_stand_in_the_lines() {
        let folder = tempfile::tempdir().unwrap();
        let conf = "Licenses=matlab:4\nJobSubmitPlugins=require_timelimit\n";
        std::fs::write(folder.path().join("slurm.conf"), conf).unwrap();
        let told = put(CONFIG, folder.path()).unwrap();
        let lines = std::fs::read_to_string(folder.path().join("slurm.conf.lines")).unwrap();
        for line in ["Licenses=matlab:4,pavior:1", "JobSubmitPlugins=require_timelimit,lua"] {
            assert!(lines.lines().any(|one| one == line), "{lines}");
            assert!(told.lines().any(|one| one.trim() == line), "{told}");
        }
        assert!(!lines.contains(UNKNOWN_CONFIG) && !told.contains(UNKNOWN_CONFIG));
    }

    #[test]
    fn what_is_there_is_written_over_only_if_it_is_our_own() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| folder.path().join(name);
        let read = |name: &str| std::fs::read_to_string(file(name)).unwrap();
        put(CONFIG, folder.path()).unwrap();
        let first = read("pavior.lua");
        // Another machine in the same cluster.
        let other = CONFIG.replace("\"p\"", "\"q\"") + "licence = \"torus\"\n";
        put(&other, folder.path()).unwrap();
        assert!(read("job_submit.lua").contains("{ \"pavior-torus.lua\", \"pavior.lua\" }"));
        // Our own files are replaced by those for a larger machine.
        put(&CONFIG.replace("4x2", "8x8"), folder.path()).unwrap();
        assert!(first != read("pavior.lua") && read("pavior.lua").contains("mesh:8x8"));
        // One is a site's own file, and the other is our file after an edit.
        for own in ["-- ours\n".to_string(), read("job_submit.lua").replace("return", "\nreturn")] {
            std::fs::write(file("job_submit.lua"), &own).unwrap();
            let told = put(CONFIG, folder.path()).unwrap();
            assert_eq!(read("job_submit.lua"), own);
            let line = format!("dofile(\"{}\")", file("pavior.lua").display());
            assert!(told.contains(&line) != own.contains("pavior.lua"), "{told}");
        }
        std::fs::write(file("job_submit.lua"), format!("{}mesh:4x2.\n", gate::OLDER)).unwrap();
        assert!(put(CONFIG, folder.path()).unwrap_err().to_string().contains("earlier version"));
        // If one of the files cannot be written, none of them is.
        let larger = CONFIG.replace("4x2", "9x9");
        assert!(put(&larger, folder.path()).is_err() && !read("pavior.lua").contains("mesh:9x9"));
        std::fs::write(file("pavior.lua"), first.replace("{ 4, 2 }", "{ 4, 4 }")).unwrap();
        let fault = put(CONFIG, folder.path()).unwrap_err().to_string();
        assert!(fault.contains("pavior.lua has been edited"), "{fault}");
    }
}
