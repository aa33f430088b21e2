//! Tests that the interfaces to other programs are features of the build.

#[cfg(feature = "slurm")]
use crate::refused_for;
use crate::{good, pavior, stderr};

#[test]
fn a_command_that_is_not_built_names_its_feature() {
    let doors = [
        ("serve", cfg!(feature = "serve")),
        ("slurm", cfg!(feature = "slurm")),
        ("kube", cfg!(feature = "kube")),
    ];
    for (door, _) in doors.iter().filter(|(_, built)| !built) {
        for more in [&[][..], &["--help"], &["--machine", "mesh:4x4", "check"]] {
            let output = pavior(&[&[*door], more].concat(), "");
            let told = stderr(&output);
            assert_eq!(output.status.code(), Some(2), "{told}");
            assert!(told.contains(&format!("--features {door}`")), "{told}");
            assert_eq!(told.lines().count(), 1, "{told}");
        }
    }
}

#[test]
fn every_door_stands_in_the_help() {
    let help = good(&["help"]);
    for door in ["allocate", "serve", "slurm", "kube"] {
        assert!(help.contains(&format!("\n  {door} ")), "{help}");
    }
}

#[cfg(feature = "slurm")]
#[test]
fn every_command_of_slurm_needs_a_configuration() {
    for command in [&[][..], &["check"], &["install", "."], &["uninstall"], &["why", "7"]] {
        refused_for(&[&["slurm"], command].concat(), "pavior slurm needs --config FILE");
    }
}
