//! Lists in slurm.conf that may contain the site's own entries, such as `Licenses`.
//!
//! If several lines have the same name, Slurm uses only the last. A line with only our entry would
//! remove the site's entries, so the whole list is read and printed with our entry added.

use std::path::Path;
use std::time::Duration;

use pavior::text::shown;

use crate::Config;
use crate::calls::{Bounds, Call, Question};
use crate::ledger::site::value;

/// A list to which we add entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum List {
    Licences,
    Plugins,
    Slurmctld,
    Scheduler,
    Private,
}

/// The line name and our entries for each list. The license comes from the configuration.
const LISTS: [(&str, &str); 5] = [
    ("Licenses", ""),
    ("JobSubmitPlugins", "lua"),
    ("SlurmctldParameters", "disable_job_shrink"),
    ("SchedulerParameters", "bf_interval=1,batch_sched_delay=1"),
    ("PrivateData", "cloud"),
];

/// The maximum depth of included files.
const MAX_DEPTH: usize = 8;
/// The maximum size of a file in bytes.
const MAX_FILE: u64 = 16 << 20;

/// The limits on the call to Slurm. If it exceeds them, the files are written without its answer.
const ANSWER_BOUNDS: Bounds = Bounds { time: Duration::from_secs(15), output: 1 << 20 };

/// The values of each list, one per line, in order.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Lists([Vec<String>; 5]);

impl Lists {
    /// Parses the lists that slurmctld has loaded, from `scontrol show config`.
    pub(crate) fn shown(config: &str) -> Lists {
        let set = |text: &&str| !["", "(null)", "none"].contains(text);
        Lists(LISTS.map(|(name, _)| {
            Some(value(config, name)).filter(set).map(Into::into).into_iter().collect()
        }))
    }

    /// Reads a slurm.conf and the files that it includes. Returns `None` if it cannot be read.
    pub(crate) fn of_file(path: &Path) -> Option<Lists> {
        let mut lists = Lists::default();
        lists.read(path, 0)?;
        Some(lists)
    }

    /// Reads the lists in a folder's slurm.conf, or else those that slurmctld has loaded. Returns
    /// `None` if neither can be read.
    pub(crate) fn beside(folder: &Path) -> Option<Lists> {
        let asked = || {
            let (question, arguments) = (Question::Show, &["config"]);
            let shown = Call { question, arguments, environment: &[] }.answer(ANSWER_BOUNDS);
            shown.ok().map(|shown| Lists::shown(&shown))
        };
        Lists::of_file(&folder.join("slurm.conf")).or_else(asked)
    }

    fn read(&mut self, path: &Path, depth: usize) -> Option<()> {
        let length = std::fs::metadata(path).ok()?.len();
        let text = (length <= MAX_FILE).then(|| std::fs::read(path).ok()).flatten()?;
        let text = String::from_utf8_lossy(&text).replace("\\\n", " ");
        for line in text.lines() {
            // Spaces around the equals sign do not belong to the value.
            let line = line.split('#').next().unwrap_or("");
            let line = line.split('=').map(str::trim).collect::<Vec<_>>().join("=");
            let words: Vec<&str> = line.split_whitespace().collect();
            if let [include, name, ..] = words[..]
                && include.eq_ignore_ascii_case("include")
                && depth < MAX_DEPTH
            {
                let _ = self.read(&path.with_file_name(name), depth + 1);
            }
            for (name, text) in words.iter().filter_map(|word| word.split_once('=')) {
                let list = LISTS.iter().position(|(list, _)| list.eq_ignore_ascii_case(name));
                if let Some(list) = list {
                    self.0[list].push(text.trim_matches('"').to_string());
                }
            }
        }
        Some(())
    }

    /// Formats the line for a list, with its entries and ours. The text is safe to print.
    pub(crate) fn line(&self, list: List, config: &Config) -> String {
        let all = joined(self.0[list as usize].iter(), &own(list, config));
        format!("{}={}", LISTS[list as usize].0, shown(&all))
    }

    /// Finds loaded lists that lack our entry or an entry from an earlier line in the file. Returns
    /// the lines to write.
    pub(crate) fn faults(&self, file: Option<&Lists>, config: &Config) -> Vec<String> {
        let needed = [List::Licences, List::Plugins];
        needed.iter().filter_map(|list| self.fault(*list, file, config)).collect()
    }

    /// Does the same as [`Lists::faults`] for a single list.
    pub(crate) fn fault(
        &self,
        list: List,
        file: Option<&Lists>,
        config: &Config,
    ) -> Option<String> {
        let (at, own) = (list as usize, own(list, config));
        let name = LISTS[at].0;
        let before = file.map_or(&[][..], |file| &file.0[at]);
        let before = if before.len() > 1 { before } else { &[] };
        let (whole, now) = (joined(before.iter().chain(&self.0[at]), &own), self.0[at].join(","));
        let line = format!("{name}={}", shown(&whole));
        let has = |entry: &str| entries(&now).any(|one| key(one) == key(entry));
        if !before.is_empty() && !entries(&whole).all(has) {
            let count = before.len();
            return Some(format!(
                "slurm.conf: {count} lines set {name}, but Slurm uses only the last: replace them \
                 with {line}"
            ));
        }
        if entries(&now).any(|one| plugin(one) == own) {
            None
        } else if now.is_empty() {
            Some(format!("slurm.conf: add {line}"))
        } else {
            Some(format!("slurm.conf: change the {name} line to {line}"))
        }
    }
}

/// Returns our entries for a list.
fn own(list: List, config: &Config) -> String {
    match list {
        List::Licences => format!("{}:1", config.licence),
        _ => LISTS[list as usize].1.to_string(),
    }
}

fn entries(list: &str) -> impl Iterator<Item = &str> {
    list.split([',', ';']).map(str::trim).filter(|entry| !entry.is_empty())
}

/// Removes the plugin type that may precede a plugin name.
fn plugin(entry: &str) -> &str {
    entry.strip_prefix("job_submit/").unwrap_or(entry)
}

/// Returns an entry's identity: a license or parameter without its value, or a plugin without its
/// type.
fn key(entry: &str) -> &str {
    plugin(entry).split([':', '=']).next().unwrap_or(entry)
}

/// Joins the entries in some lines with ours, without duplicates.
fn joined<'a>(lines: impl Iterator<Item = &'a String>, own: &'a str) -> String {
    let mut all: Vec<&str> = Vec::new();
    for entry in lines.flat_map(|line| entries(line)).chain(entries(own)) {
        match all.iter_mut().find(|other| key(other) == key(entry)) {
            Some(other) => *other = entry,
            None => all.push(entry),
        }
    }
    all.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config() -> Config {
        let text = "machine = \"mesh:2\"\nnodes = \"n{}\"\npartition = \"p\"\n";
        Config::parse(text).unwrap()
    }

    #[test]
    fn a_sites_own_entries_stay() {
        for (licences, plugins, lines) in [
            ("(null)", "(null)", "Licenses=pavior:1\nJobSubmitPlugins=lua\n"),
            (
                "matlab:4",
                "require_timelimit",
                "Licenses=matlab:4,pavior:1\nJobSubmitPlugins=require_timelimit,lua\n",
            ),
            (
                "pavior:2,matlab:4",
                "job_submit/lua,all_partitions",
                "Licenses=pavior:1,matlab:4\nJobSubmitPlugins=lua,all_partitions\n",
            ),
        ] {
            let shown = format!("Licenses = {licences}\nJobSubmitPlugins        = {plugins}\n");
            let lists = Lists::shown(&shown);
            let line = |list: List| lists.line(list, &config()) + "\n";
            assert_eq!(line(List::Licences) + &line(List::Plugins), lines);
        }
        let lists =
            Lists::shown("SchedulerParameters = bf_interval=60,bf_window=99\nPrivateData = none\n");
        let line = "SchedulerParameters=bf_interval=1,bf_window=99,batch_sched_delay=1";
        assert_eq!(lists.line(List::Scheduler, &config()), line);
        assert_eq!(lists.line(List::Private, &config()), "PrivateData=cloud");
    }

    #[test]
    fn each_fault_has_the_line_to_write() {
        let faults = |shown: &str, file: Option<&Lists>| {
            Lists::shown(shown).faults(file, &config()).join("\n")
        };
        let none = "slurm.conf: add Licenses=pavior:1\nslurm.conf: add JobSubmitPlugins=lua";
        assert_eq!(faults("Licenses = (null)\n", None), none);
        let site = "Licenses = matlab:4\nJobSubmitPlugins = throttle\n";
        let change = "slurm.conf: change the Licenses line to Licenses=matlab:4,pavior:1\n\
                      slurm.conf: change the JobSubmitPlugins line to \
                      JobSubmitPlugins=throttle,lua";
        assert_eq!(faults(site, None), change);
        // Early versions added their lines below the site's own.
        let wiped = "Licenses = pavior:1\nJobSubmitPlugins = job_submit/lua\n";
        assert_eq!(faults(wiped, None), "");
        let mut file = Lists::default();
        file.0[0] = vec!["matlab:4".into(), "pavior:1".into()];
        let said = "slurm.conf: 2 lines set Licenses, but Slurm uses only the last: replace them \
                    with Licenses=matlab:4,pavior:1";
        assert_eq!(faults(wiped, Some(&file)), said);
        let hostile = "Licenses = a\u{1b}[2J\nJobSubmitPlugins = lua\n";
        assert!(!faults(hostile, None).contains('\u{1b}'));
    }

    #[test]
    fn files_are_read_as_slurm_reads_them() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text);
        assert_eq!(Lists::of_file(&folder.path().join("slurm.conf")), None);
        let text = "# Licenses=no:1\nlicenses = \"matlab:4\" # four\nInclude more.conf\n\
                    ClusterName=toy JobSubmitPlugins=\\\nthrottle\nInclude slurm.conf\n";
        write("slurm.conf", text).unwrap();
        write("more.conf", "Licenses=idl:2\n").unwrap();
        let lists = Lists::beside(folder.path()).unwrap();
        assert_eq!(lists.0[0][..2], ["matlab:4", "idl:2"]);
        let line = |list: List| lists.line(list, &config());
        assert_eq!(line(List::Licences), "Licenses=matlab:4,idl:2,pavior:1");
        assert_eq!(line(List::Plugins), "JobSubmitPlugins=throttle,lua");
    }
}
