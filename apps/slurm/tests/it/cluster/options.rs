//! Options for a cluster.

/// Options for a cluster. By default, there are 64 identical nodes in an 8x8 mesh.
#[derive(Default)]
pub(crate) struct Options {
    /// The subject of the test.
    pub(super) what: &'static str,
    pub(super) conf: String,
    pub(super) nodes: String,
    pub(super) toml: String,
    pub(super) machine: Option<&'static str>,
    pub(super) prefix: &'static str,
    pub(super) accounting: bool,
    pub(super) files: Vec<(&'static str, String)>,
}

impl Options {
    pub(crate) fn new(what: &'static str) -> Options {
        Options { what, ..Options::default() }
    }

    /// Adds lines to slurm.conf, replacing lines from `cluster.sh` that have the same key. A
    /// partition's line replaces the existing line for that partition.
    pub(crate) fn conf(mut self, lines: &str) -> Options {
        self.conf = format!("{}\n{lines}", self.conf).trim().to_string();
        self
    }

    /// Adds properties to some nodes, for example `Feature=fast Gres=board:2 CPUs=4 RealMemory=500`
    /// to `n[00-07]`. GRES require a gres.conf file and `GresTypes` in slurm.conf; `gpu` also
    /// requires device files. Nodes with a `State=` are not started.
    pub(crate) fn nodes(mut self, names: &str, has: &str) -> Options {
        self.nodes = format!("{}\n{names} {has}", self.nodes).trim().to_string();
        self
    }

    /// Adds lines to pavior.toml, replacing lines that have the same key.
    pub(crate) fn toml(mut self, lines: &str) -> Options {
        self.toml = format!("{}\n{lines}", self.toml).trim().to_string();
        self
    }

    /// Sets the machine. Its nodes are named n00, n01, ..., or n000, n001, ... if there are more
    /// than 100.
    pub(crate) fn machine(mut self, machine: &'static str) -> Options {
        self.machine = Some(machine);
        self
    }

    /// Sets the prefix of node names, by default `n`.
    pub(crate) fn prefix(mut self, prefix: &'static str) -> Options {
        self.prefix = prefix;
        self
    }

    /// Adds slurmdbd and MariaDB. Alice and Bob use the account toy.
    pub(crate) fn accounting(mut self) -> Options {
        self.accounting = true;
        self
    }

    /// Adds a file next to slurm.conf before Slurm starts. Scripts are made executable. In the file
    /// and in slurm.conf, `@DIR@` is replaced with the directory's path.
    pub(crate) fn file(mut self, name: &'static str, text: &str) -> Options {
        self.files.push((name, text.to_string()));
        self
    }
}
