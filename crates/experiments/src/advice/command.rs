//! The command that reproduces a run's results.

use pavior_kernel::shell_word;

use super::Measure;
use crate::Setting;
use crate::parameters::{self, ValueType};

/// Returns the `pavior simulate` command with these settings and metrics.
pub(super) fn simulate(settings: &[Setting], measures: &[Measure]) -> String {
    let mut command = "pavior simulate".to_string();
    for Setting { key, values } in settings {
        let known = parameters::ALL.iter().find(|parameter| parameter.name == key);
        command += &format!(" --{key}");
        if known.is_none_or(|parameter| parameter.kind != ValueType::Switch) {
            command += &format!(" {}", shell_word(&values.join(",")));
        }
    }
    let metrics: Vec<&str> = measures.iter().map(|measure| measure.metric.as_str()).collect();
    command + " --replications 1 --format json --metrics " + &metrics.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_for_a_shell() {
        let settings = [
            Setting::new("trace", "it's; rm.swf"),
            Setting::new("kill", "true"),
            Setting::new("strategy", "bf:turn=all"),
        ];
        let command = simulate(&settings, &[]);
        let typed = r"--trace 'it'\''s; rm.swf' --kill --strategy bf:turn=all --replications 1";
        assert_eq!(command, format!("pavior simulate {typed} --format json --metrics "));
    }
}
