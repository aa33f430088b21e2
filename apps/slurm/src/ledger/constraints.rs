//! Constraints on node features, such as `fast&(rack1|rack2)`.

/// The maximum length of a constraint, in bytes.
const MAX_TEXT: usize = 4096;
/// The maximum nesting depth of parentheses.
const MAX_DEPTH: usize = 16;

/// A constraint made of features, `&`, `|` and parentheses.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Constraint {
    Feature(String),
    /// The first operand, followed by the others, each with its preceding operator.
    Joined(Box<Constraint>, Vec<(Connective, Constraint)>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Connective {
    And,
    Or,
}

impl Constraint {
    /// Parses a constraint. Returns `None` if the text is invalid or uses syntax that only Slurm
    /// supports: counts, brackets, braces or `!`.
    pub(crate) fn parse(text: &str) -> Option<Constraint> {
        if text.len() > MAX_TEXT {
            return None;
        }
        let (constraint, rest) = Constraint::parse_terms(text, 0)?;
        rest.is_empty().then_some(constraint)
    }

    fn parse_terms(text: &str, depth: usize) -> Option<(Constraint, &str)> {
        let (first, mut rest) = Constraint::parse_operand(text, depth)?;
        let mut others = Vec::new();
        loop {
            let operator = match rest.as_bytes().first() {
                Some(b'&') => Connective::And,
                Some(b'|') => Connective::Or,
                _ => break,
            };
            let (next, behind) = Constraint::parse_operand(&rest[1..], depth)?;
            others.push((operator, next));
            rest = behind;
        }
        let whole =
            if others.is_empty() { first } else { Constraint::Joined(Box::new(first), others) };
        Some((whole, rest))
    }

    fn parse_operand(text: &str, depth: usize) -> Option<(Constraint, &str)> {
        if let Some(inside) = text.strip_prefix('(') {
            if depth == MAX_DEPTH {
                return None;
            }
            let (inner, rest) = Constraint::parse_terms(inside, depth + 1)?;
            return Some((inner, rest.strip_prefix(')')?));
        }
        let end = text.find(|c: char| !is_feature_char(c)).unwrap_or(text.len());
        let (name, rest) = text.split_at(end);
        (!name.is_empty()).then(|| (Constraint::Feature(name.to_string()), rest))
    }

    /// Returns true if a node with these features satisfies the constraint under both readings used
    /// by Slurm releases: left to right, and with `&` binding more tightly than `|`. Only the first
    /// is evaluated, because it is stricter: without negation, it implies the second.
    pub(super) fn satisfied_by(&self, available: &[String]) -> bool {
        match self {
            Constraint::Feature(name) => available.iter().any(|feature| feature == name),
            Constraint::Joined(first, others) => {
                let first = first.satisfied_by(available);
                others.iter().fold(first, |so_far, (operator, next)| match operator {
                    Connective::And => so_far && next.satisfied_by(available),
                    Connective::Or => so_far || next.satisfied_by(available),
                })
            }
        }
    }
}

fn is_feature_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_-.=:+%@/".contains(c)
}

/// Parses a node's features, as printed by `sinfo`.
pub(super) fn parse_features(text: &str) -> Option<Vec<String>> {
    if text == "(null)" || text.is_empty() {
        return Some(Vec::new());
    }
    let is_valid = |name: &str| !name.is_empty() && name.chars().all(is_feature_char);
    let names = text.split(',').map(|name| is_valid(name).then(|| name.to_string()));
    names.collect()
}
