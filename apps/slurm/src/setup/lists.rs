//! Lists in slurm.conf to which the site may add its own entries, such as `Licenses`.
//!
//! If several lines set the same list, Slurm uses only the last one. A line with just our entry
//! would drop the site's entries, so we print the complete list, including our entry.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pavior::files::{Limits, read_if_there};
use pavior::text::shown;

use crate::Config;
use crate::calls::{Bounds, Call, Query};
use crate::ledger::site::value;

/// A list to which we add entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum List {
    Licenses,
    Plugins,
    Slurmctld,
    Scheduler,
    Private,
}

impl List {
    const ALL: [List; 5] =
        [List::Licenses, List::Plugins, List::Slurmctld, List::Scheduler, List::Private];

    /// Returns the key in slurm.conf.
    fn name(self) -> &'static str {
        match self {
            List::Licenses => "Licenses",
            List::Plugins => "JobSubmitPlugins",
            List::Slurmctld => "SlurmctldParameters",
            List::Scheduler => "SchedulerParameters",
            List::Private => "PrivateData",
        }
    }

    /// Returns the entries that we add.
    fn entries(self, config: &Config) -> String {
        match self {
            List::Licenses => format!("{}:1", config.license),
            List::Plugins => "lua".into(),
            List::Slurmctld => "disable_job_shrink".into(),
            List::Scheduler => "bf_interval=1,batch_sched_delay=1".into(),
            List::Private => "cloud".into(),
        }
    }
}

/// The maximum number of files to read. Their names may come from an attacker.
const MAX_FILES: usize = 1024;

/// Limits on the call to Slurm. If they are exceeded, the files are written without Slurm's lists.
const ANSWER_BOUNDS: Bounds = Bounds { time: Duration::from_secs(15), output: 1 << 20 };

/// The lines that set each list, in order.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Lists(Vec<(List, String)>);

impl Lists {
    /// Parses the lists loaded by slurmctld from the output of `scontrol show config`.
    pub(crate) fn loaded(config: &str) -> Lists {
        let lines = List::ALL.map(|list| (list, value(config, list.name()).to_string()));
        let is_set = |(_, text): &(List, String)| !["", "(null)", "none"].contains(&&**text);
        Lists(lines.into_iter().filter(is_set).collect())
    }

    /// Reads a slurm.conf and the files it includes. Returns `None` if slurm.conf is unreadable or
    /// there are too many files.
    pub(crate) fn from_file(path: &Path) -> Option<Lists> {
        let mut lists = Lists::default();
        let mut seen = BTreeSet::new();
        lists.read(path, &mut seen)?;
        (seen.len() <= MAX_FILES).then_some(lists)
    }

    /// Reads the lists in a directory's slurm.conf or, failing that, those that slurmctld has
    /// loaded. Returns `None` if neither can be read.
    pub(crate) fn near(folder: &Path) -> Option<Lists> {
        let loaded = || {
            let call = Call::new(Query::Show, &["config"]).bounds(ANSWER_BOUNDS);
            Some(Lists::loaded(&call.answer().ok()?))
        };
        Lists::from_file(&folder.join("slurm.conf")).or_else(loaded)
    }

    /// Adds the lists in a file and in the files that it includes, except those in `seen`.
    fn read(&mut self, path: &Path, seen: &mut BTreeSet<PathBuf>) -> Option<()> {
        if seen.len() > MAX_FILES || !seen.insert(path.canonicalize().ok()?) {
            return None;
        }
        let text = read_if_there(path, Limits::DOCUMENT).ok()??.replace("\\\n", " ");
        for line in text.lines() {
            // Spaces around the equals sign are not part of the value.
            let line = line.split('#').next().unwrap_or("");
            let line = line.split('=').map(str::trim).collect::<Vec<_>>().join("=");
            let words: Vec<&str> = line.split_whitespace().collect();
            if let [include, name, ..] = words[..]
                && include.eq_ignore_ascii_case("include")
            {
                let _ = self.read(&path.with_file_name(name), seen);
            }
            for (name, text) in words.iter().filter_map(|word| word.split_once('=')) {
                let list =
                    List::ALL.into_iter().find(|list| list.name().eq_ignore_ascii_case(name));
                self.0.extend(list.map(|list| (list, text.trim_matches('"').to_string())));
            }
        }
        Some(())
    }

    /// Returns the values on the lines that set a list.
    fn values(&self, list: List) -> Vec<&str> {
        let lines = self.0.iter().filter(|(other, _)| *other == list);
        lines.map(|(_, text)| text.as_str()).collect()
    }

    /// Formats the line that sets a list to the site's entries and ours. The text is safe to print.
    pub(crate) fn line(&self, list: List, config: &Config) -> String {
        let all = merge(self.values(list), &list.entries(config));
        format!("{}={}", list.name(), shown(&all))
    }

    /// Finds loaded lists that lack our entry or have lost an entry from an earlier line in the
    /// file. Returns the lines that would fix these lists.
    pub(crate) fn problems(&self, file: Option<&Lists>, config: &Config) -> Vec<String> {
        let required = [List::Licenses, List::Plugins];
        required.iter().filter_map(|list| self.problem(*list, file, config)).collect()
    }

    /// Like [`Lists::problems`], but for a single list.
    pub(crate) fn problem(
        &self,
        list: List,
        file: Option<&Lists>,
        config: &Config,
    ) -> Option<String> {
        let (name, ours) = (list.name(), list.entries(config));
        let loaded = self.values(list);
        let in_file = file.map_or(Vec::new(), |file| file.values(list));
        let duplicates = if in_file.len() > 1 { in_file } else { Vec::new() };
        let all = merge([duplicates.clone(), loaded.clone()].concat(), &ours);
        let line = format!("{name}={}", shown(&all));
        let loaded = loaded.join(",");
        let is_loaded = |entry: &str| entries(&loaded).any(|one| key(one) == key(entry));
        if !duplicates.is_empty() && !entries(&all).all(is_loaded) {
            let count = duplicates.len();
            return Some(format!(
                "slurm.conf: {count} lines set {name}, but Slurm uses only the last; replace them \
                 with {line}"
            ));
        }
        if entries(&loaded).any(|one| plugin(one) == ours) {
            None
        } else if loaded.is_empty() {
            Some(format!("slurm.conf: add {line}"))
        } else {
            Some(format!("slurm.conf: change the {name} line to {line}"))
        }
    }
}

fn entries(list: &str) -> impl Iterator<Item = &str> {
    list.split([',', ';']).map(str::trim).filter(|entry| !entry.is_empty())
}

/// Removes the plugin type, if any, from a plugin's name.
fn plugin(entry: &str) -> &str {
    entry.strip_prefix("job_submit/").unwrap_or(entry)
}

/// Returns the part of an entry that identifies it: a license or parameter without its value, or a
/// plugin without its type.
fn key(entry: &str) -> &str {
    plugin(entry).split([':', '=']).next().unwrap_or(entry)
}

/// Merges the entries on several lines with ours. If entries conflict, the last one wins.
fn merge<'a>(lines: Vec<&'a str>, ours: &'a str) -> String {
    let mut all: Vec<&str> = Vec::new();
    for entry in lines.into_iter().flat_map(entries).chain(entries(ours)) {
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
        Config::of_machine("mesh:2")
    }

    #[test]
    fn entries_of_the_site_are_kept() {
        for (licenses, plugins, lines) in [
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
            let loaded = format!("Licenses = {licenses}\nJobSubmitPlugins        = {plugins}\n");
            let lists = Lists::loaded(&loaded);
            let line = |list: List| lists.line(list, &config()) + "\n";
            assert_eq!(line(List::Licenses) + &line(List::Plugins), lines);
        }
        let lists = Lists::loaded(
            "SchedulerParameters = bf_interval=60,bf_window=99\nPrivateData = none\n",
        );
        let line = "SchedulerParameters=bf_interval=1,bf_window=99,batch_sched_delay=1";
        assert_eq!(lists.line(List::Scheduler, &config()), line);
        assert_eq!(lists.line(List::Private, &config()), "PrivateData=cloud");
    }

    #[test]
    fn each_problem_contains_the_line_to_write() {
        let problems = |loaded: &str, file: Option<&Lists>| {
            Lists::loaded(loaded).problems(file, &config()).join("\n")
        };
        let none = "slurm.conf: add Licenses=pavior:1\nslurm.conf: add JobSubmitPlugins=lua";
        assert_eq!(problems("Licenses = (null)\n", None), none);
        let site = "Licenses = matlab:4\nJobSubmitPlugins = throttle\n";
        let change = "slurm.conf: change the Licenses line to Licenses=matlab:4,pavior:1\n\
                      slurm.conf: change the JobSubmitPlugins line to \
                      JobSubmitPlugins=throttle,lua";
        assert_eq!(problems(site, None), change);
        // Only our line is loaded, because it comes after the site's own.
        let wiped = "Licenses = pavior:1\nJobSubmitPlugins = job_submit/lua\n";
        assert_eq!(problems(wiped, None), "");
        let lines = ["matlab:4", "pavior:1"].map(|line| (List::Licenses, line.into()));
        let file = Lists(lines.to_vec());
        let line = "slurm.conf: 2 lines set Licenses, but Slurm uses only the last; replace them \
                    with Licenses=matlab:4,pavior:1";
        assert_eq!(problems(wiped, Some(&file)), line);
        let hostile = "Licenses = a\u{1b}[2J\nJobSubmitPlugins = lua\n";
        assert!(!problems(hostile, None).contains('\u{1b}'));
    }

    #[test]
    fn files_are_parsed_as_in_slurm() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text);
        assert_eq!(Lists::from_file(&folder.path().join("slurm.conf")), None);
        assert_eq!(Lists::from_file(Path::new("/dev/zero")), None, "it has no end");
        let text = "# Licenses=no:1\nlicenses = \"matlab:4\" # four\nInclude more.conf\n\
                    ClusterName=toy JobSubmitPlugins=\\\nthrottle\n";
        let included = |n: usize| format!("Include slurm.conf\nInclude n{n}.conf\n");
        let text = text.to_string() + &(0..100).map(included).collect::<String>();
        for n in 0..100 {
            write(&format!("n{n}.conf"), &format!("Licenses=n{n}:1")).unwrap();
        }
        write("slurm.conf", &text).unwrap();
        write("more.conf", "Licenses=idl:2\n").unwrap();
        let lists = Lists::near(folder.path()).unwrap();
        let licenses = lists.values(List::Licenses);
        assert_eq!((licenses.len(), &licenses[..3]), (102, &["matlab:4", "idl:2", "n0:1"][..]));
        write("slurm.conf", text.split("Include slurm.conf").next().unwrap()).unwrap();
        let lists = Lists::near(folder.path()).unwrap();
        let line = |list: List| lists.line(list, &config());
        assert_eq!(line(List::Licenses), "Licenses=matlab:4,idl:2,pavior:1");
        assert_eq!(line(List::Plugins), "JobSubmitPlugins=throttle,lua");
    }
}
