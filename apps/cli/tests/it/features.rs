//! Tests that the interfaces to other programs are optional features of the build.

#[cfg(feature = "slurm")]
use crate::refused_for;
use crate::{good, pavior, stderr};

#[test]
fn a_command_that_is_not_built_names_its_feature() {
    let features = [
        ("serve", cfg!(feature = "serve")),
        ("slurm", cfg!(feature = "slurm")),
        ("kube", cfg!(feature = "kube")),
    ];
    for (feature, _) in features.iter().filter(|(_, built)| !built) {
        for more in ["", "--help", "--machine mesh:4x4 check"] {
            let output = pavior(&format!("{feature} {more}"), "");
            let message = stderr(&output);
            assert_eq!(output.status.code(), Some(2), "{message}");
            assert!(message.contains(&format!("--features {feature}`")), "{message}");
            assert_eq!(message.lines().count(), 1, "{message}");
        }
    }
}

#[test]
fn the_help_lists_the_command_of_every_feature() {
    let help = good("help");
    for command in ["allocate", "serve", "slurm", "kube"] {
        assert!(help.contains(&format!("\n  {command} ")), "{help}");
    }
}

#[cfg(feature = "slurm")]
#[test]
fn every_command_of_slurm_needs_a_configuration() {
    for command in ["", "check", "install .", "uninstall", "why 7"] {
        refused_for(&format!("slurm {command}"), "pavior slurm requires --config FILE");
    }
}
