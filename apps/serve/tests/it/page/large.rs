//! Measures how fast a large machine is drawn.

use pavior_trials::Browser;

use crate::client::batch;
use crate::server::served;

/// Prints frame times without checking them, because they depend on the load and on software
/// rendering. Checks that only visible faces are drawn, and that the picture is sharp at rest.
#[test]
fn a_large_machine_is_drawn() {
    let Some(mut browser) = Browser::start(1280, 800) else { return };
    let (server, mut client) = served(|setup| setup.machine = "torus:16x16x16".into());
    let leases = batch(vec![r#"{"lease":{"shape":[1,2,1]}}"#; 2000]);
    let answers = client.post("/v1/batch", leases).json();
    let granted = answers["answers"].as_array().unwrap().iter().filter(|one| one["status"] == 201);
    assert_eq!(granted.count(), 2000);
    browser.open(&server.address);
    browser.shows("counts", "2,000 jobs");
    let frames = browser.value("window.pavior.frames(3000)");
    let [rate, work, build, triangles] =
        ["rate", "work", "build", "triangles"].map(|name| frames[name].as_f64().unwrap());
    println!(
        "16x16x16 nodes and 2,000 jobs: {rate:.1} frames per second in software; the page's \
         own work takes {work:.2} ms per frame, {build:.1} ms to rebuild; {triangles} triangles"
    );
    // There are two triangles per face, on three sides of the machine and around the 96 free nodes.
    assert!(triangles <= f64::from(2 * (3 * 256 + 3 * 96)), "{triangles} triangles are drawn");
    browser.until(
        "document.getElementById('deep').width === document.getElementById('deep').clientWidth",
    );
    browser.picture("large");
}
