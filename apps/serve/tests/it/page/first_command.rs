//! Tests the command that the page suggests for an empty machine.

use std::process::Command;

use pavior_trials::Browser;

use super::log_in;
use crate::server::fresh;

#[test]
fn the_first_command_works_unchanged() {
    let Some(mut browser) = Browser::start(1280, 800) else { return };
    let (server, _) = fresh(|setup| setup.machine = "torus:8x8x1".into());
    browser.open(&server.address);
    browser.shows("first-command", "curl");
    browser.picture("first");
    let command = browser.value("document.getElementById('first-command').textContent");
    let command = command.as_str().unwrap();
    assert!(command.contains(&server.address) && command.contains("[2,3,1]"), "{command}");
    // Old versions of `curl` do not support `--json`.
    let json = "-H content-type:application/json -d ";
    let ran = Command::new("sh").args(["-c", &command.replace("--json ", json)]).output();
    match ran {
        Ok(output) if output.status.success() => {
            let answer = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(answer.contains("\"state\":\"held\""), "{answer}");
        }
        ran => {
            let why = format!("no curl: {ran:?}");
            pavior_trials::skipped("the page's first command", &why, "PAVIOR_REQUIRE_ALL");
            server.client().lease(r#"{"shape":[2,3,1],"job":"first"}"#);
        }
    }
    browser.shows("counts", "6 busy");
    browser.until("document.getElementById('first').hidden");
    browser.shows("jobs", "first");
}

/// Checks that the command has a placeholder for the token if one is required.
#[test]
fn the_first_command_has_a_placeholder_for_a_token() {
    let Some(mut browser) = Browser::start(1280, 800) else { return };
    let (server, _) = fresh(|setup| setup.give_tokens(&["a"]));
    browser.open(&server.address);
    log_in(&mut browser, "a-secret");
    browser.shows("first-command", "Authorization: Bearer $TOKEN");
    let shown = browser.value("document.body.textContent.includes('a-secret')");
    assert_eq!(shown, false, "the token itself is not shown");
}
