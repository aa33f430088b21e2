//! The keys that Slurm 26.05 knows in a topology.yaml, and what it does with others.

use std::collections::HashMap;

use pavior_kernel::shown;

use super::yaml::{Kind, Member, Value};
use super::{Effect, Finding};

/// A kind of map.
#[derive(Clone, Copy)]
pub(super) struct Level {
    /// What it is, such as `a torus`.
    name: &'static str,
    keys: &'static [&'static str],
}

pub(super) const TOPOLOGY: Level = Level {
    name: "a topology",
    keys: &["topology", "cluster_default", "block", "flat", "ring", "torus3d", "tree"],
};
pub(super) const TORUS3D: Level = Level { name: "torus3d", keys: &["toruses"] };
pub(super) const TORUS: Level = Level {
    name: "a torus (an entry of toruses)",
    keys: &["name", "dims", "nodes", "regions", "placements"],
};
pub(super) const PLACEMENT: Level = Level {
    name: "a placement (an entry of placements)",
    keys: &["dims", "anchor_seed", "anchor_spacing"],
};
pub(super) const REGION: Level =
    Level { name: "a region (an entry of regions)", keys: &["anchor", "dims", "nodes"] };
pub(super) const SIDES: Level = Level { name: "x, y and z", keys: &["x", "y", "z"] };

const ALL: [Level; 6] = [TOPOLOGY, TORUS3D, TORUS, PLACEMENT, REGION, SIDES];

/// The members of a map by their keys. Slurm takes the last of several.
pub(super) struct Fields<'v> {
    map: &'v [Member],
}

impl<'v> Fields<'v> {
    pub(super) fn get(&self, key: &str) -> Option<&'v Value> {
        self.map.iter().rfind(|member| member.key == key).map(|member| &member.value)
    }
}

impl Level {
    /// The members of a value of this kind. What Slurm ignores of them is found; `None` if it is no
    /// map, which slurmctld refuses.
    pub(super) fn fields<'v>(
        self,
        value: &'v Value,
        found: &mut Vec<Finding>,
    ) -> Option<Fields<'v>> {
        let Kind::Map(map) = &value.kind else {
            let message = format!("{} is a map with the keys {}", self.name, self.keys.join(", "));
            let (place, effect) = (value.place, Effect::Refused);
            found.push(Finding { place, effect, rule: "type", message });
            return None;
        };
        let mut first: HashMap<&str, &Member> = HashMap::new();
        for member in map {
            let (place, key) = (member.place, member.key.as_str());
            if !self.keys.contains(&key) {
                let message = format!("Slurm ignores `{}` here{}", shown(key), self.hint(key));
                let effect = Effect::Ignored;
                found.push(Finding { place, effect, rule: "unknown-key", message });
            } else if let Some(first) = first.get(key) {
                found.push(repeated(first, member));
            } else {
                first.insert(key, member);
            }
        }
        Some(Fields { map })
    }

    /// Where an unknown key would be known, or what it may be meant for.
    fn hint(self, key: &str) -> String {
        let known = |level: &&Level| level.keys.contains(&key);
        if let Some(level) = ALL.iter().find(known) {
            return format!(": it belongs into {}", level.name);
        }
        let lower = key.to_lowercase();
        let near = |known: &&&str| {
            lower == **known || (lower.len() > 2 && strsim::damerau_levenshtein(&lower, known) <= 2)
        };
        // A key is at most as long as the file; a long one is near to none.
        let near = if key.len() > 40 { None } else { self.keys.iter().find(near) };
        match near {
            Some(known) => format!(": `{known}` may be meant"),
            None => format!(": {} has the keys {}", self.name, self.keys.join(", ")),
        }
    }
}

/// A key that stands twice. Of words and maps Slurm takes the last; a list it would add to the
/// first as one more entry, which is then of the wrong kind.
fn repeated(first: &Member, again: &Member) -> Finding {
    let (key, line) = (shown(&again.key), first.place.line);
    let kinds = (&first.value.kind, &again.value.kind);
    let (effect, rest) = match kinds {
        (Kind::Text(_), _) | (Kind::Map(_), Kind::Map(_)) => {
            (Effect::Ignored, "Slurm takes the last")
        }
        _ => (Effect::Refused, "Slurm mixes the two, and reads neither"),
    };
    let message = format!("`{key}` stands on line {line} already: {rest}");
    Finding { place: again.place, effect, rule: "repeated-key", message }
}
