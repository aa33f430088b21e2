//! Creates the README animation: `PAVIOR_SCREENSHOTS=FOLDER cargo test -p pavior-browser --test it
//! picture` writes `try.webp` to the folder. Copy it to `docs/img/try.webp`.

use std::path::Path;

use pavior_trials::Browser;
use serde_json::json;

const WIDTH: u32 = 900;
const HEIGHT: u32 = 730;
const FRAMES: usize = 28;
/// The display time of each frame, in milliseconds.
const SHOWN: u32 = 160;

#[test]
fn the_readme_animation_is_recorded() {
    let Some(folder) = std::env::var_os("PAVIOR_SCREENSHOTS") else { return };
    let Some(mut browser) = Browser::start(WIDTH, HEIGHT) else { return };
    let Some(page) = crate::built("pavior.html") else { return };
    let folder = Path::new(&folder);
    let address = "strategy=ff&strategy=tff&paused=1&t=45&view=3d";
    browser.open(&format!("file://{}#{address}", page.display()));
    browser.until("window.pavior");
    // Hide everything except the machines and the curves.
    browser.value(
        "(() => {
           for (const id of ['ask', 'settings', 'command', 'log', 'share', 'help', 'theme'])
             document.getElementById(id).hidden = true;
           for (const one of document.querySelectorAll('.about, #play'))
             one.style.display = 'none';
           for (const one of document.querySelectorAll('.stage')) one.style.height = '310px';
           document.documentElement.style.overflow = 'hidden';
           return true;
         })()",
    );
    let mut frames = Vec::new();
    for _ in 0..FRAMES {
        browser.value(
            "(() => { for (let n = 0; n < 6; n++) document.getElementById('step').click();
               return new Promise((done) =>
                 requestAnimationFrame(() => requestAnimationFrame(done)));
             })()",
        );
        browser.screenshot("frame.webp", &json!({ "format": "webp", "quality": 38 }));
        frames.push(std::fs::read(folder.join("frame.webp")).expect("a frame"));
    }
    let animation = animated(&frames);
    assert!(animation.len() < 1_000_000, "{} bytes", animation.len());
    std::fs::write(folder.join("try.webp"), animation).expect("there is room");
}

/// Returns the image chunks of a WebP file, each with its header and padding.
fn images(file: &[u8]) -> Vec<u8> {
    let (mut rest, mut found) = (&file[12..], Vec::new());
    while let [a, b, c, d, l0, l1, l2, l3, ..] = *rest {
        let length = u32::from_le_bytes([l0, l1, l2, l3]) as usize;
        let end = (8 + length + length % 2).min(rest.len());
        if [*b"VP8 ", *b"VP8L", *b"ALPH"].contains(&[a, b, c, d]) {
            found.extend_from_slice(&rest[..end]);
        }
        rest = &rest[end..];
    }
    found
}

/// Combines WebP files of the same size into a looping animation (container format: RFC 9649,
/// section 2.7).
fn animated(frames: &[Vec<u8>]) -> Vec<u8> {
    let three = |number: u32| number.to_le_bytes()[..3].to_vec();
    let size = [three(WIDTH - 1), three(HEIGHT - 1)].concat();
    let chunk = |name: &[u8; 4], content: &[u8]| {
        [name, &(content.len() as u32).to_le_bytes()[..], content].concat()
    };
    let mut body = b"WEBP".to_vec();
    body.extend(chunk(b"VP8X", &[&[2, 0, 0, 0][..], &size].concat()));
    body.extend(chunk(b"ANIM", &[0; 6]));
    for frame in frames {
        let head = [&[0; 6][..], &size, &three(SHOWN), &[2]].concat();
        body.extend(chunk(b"ANMF", &[head, images(frame)].concat()));
    }
    chunk(b"RIFF", &body)
}
