//! Tests the live figures on the strategy pages, which a web server serves to Chromium.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use pavior::strategies::Registry;
use pavior_trials::Browser;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// A web server for a folder that contains `try/` and a page with the figures.
pub(crate) struct Server {
    process: Child,
    address: String,
    _folder: tempfile::TempDir,
}

impl Server {
    /// Starts the server. Returns `None` if the page or Python is missing.
    pub(crate) fn start(names: &[&str]) -> Option<Server> {
        let script = crate::built("figure.js")?;
        let mut figures = Command::new("python3");
        figures.arg("docs/site/strategies.py").arg("--live").args(names).current_dir(ROOT);
        let Ok(figures) = figures.output() else {
            pavior_trials::skipped("live figures", "no Python 3.11", crate::REQUIRED);
            return None;
        };
        assert!(figures.status.success(), "{}", String::from_utf8_lossy(&figures.stderr));
        let figures = String::from_utf8(figures.stdout).expect("UTF-8");
        let figures = figures.replace("</div>", "</div><p>The drawings of the page.</p>");
        let style = std::fs::read_to_string(Path::new(ROOT).join("docs/site/site.css"));
        let page = format!(
            "<!doctype html><html lang=en><meta charset=utf-8><title>Figures</title>
             <meta name=viewport content='width=device-width'><meta name=color-scheme
             content='light dark'><style>{}</style><main class=md-typeset><h1>Figures</h1>
             {figures}</main><script src=../../try/figure.js defer></script></html>",
            style.expect("a style"),
        );
        let folder = tempfile::TempDir::new().expect("there is room");
        let pages = folder.path().join("docs/strategies");
        std::fs::create_dir_all(&pages).expect("there is room");
        std::fs::write(pages.join("page.html"), page).expect("there is room");
        let site = script.parent().expect("a folder");
        std::os::unix::fs::symlink(site, folder.path().join("try")).expect("there is room");
        let mut server = Command::new("python3");
        server.args(["-u", "-m", "http.server", "--bind", "127.0.0.1", "0", "--directory"]);
        let server = server.arg(folder.path()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
        let mut process = server.expect("Python runs");
        let mut line = String::new();
        let read = BufReader::new(process.stdout.take().expect("a pipe")).read_line(&mut line);
        read.expect("a line");
        let address = line.split(['(', ')']).nth(1).expect(&line).to_string();
        Some(Server { process, address, _folder: folder })
    }

    fn open(&self, browser: &mut Browser) {
        browser.open(&format!("{}docs/strategies/page.html", self.address));
        browser.until("document.querySelector('.live form')");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A JavaScript function that waits for a figure's answer.
const ANSWERED: &str = "window.answered = async (place) => {
    while (!place.dataset.result || place.dataset.result === '…')
        await new Promise((done) => setTimeout(done, 5));
    return place.dataset.result;
}";

/// Checks that all examples give their documented answers, and that the engine is loaded only after
/// a click.
#[test]
fn examples_have_their_documented_answers() {
    let Some(mut browser) = Browser::start(1400, 1000) else { return };
    let registry = Registry::new();
    let names: Vec<&str> = registry.entries().map(|entry| entry.name).collect();
    let Some(server) = Server::start(&names) else { return };
    server.open(&mut browser);
    let loaded = "performance.getEntriesByType('resource').filter((one) =>
        one.name.endsWith('.wasm')).length";
    assert_eq!(browser.value(loaded), 0);
    browser.value(ANSWERED);
    let wrong = browser.value(
        "(async () => {
           const wrong = [];
           let asked = 0;
           for (const place of document.querySelectorAll('.live')) {
             const scenes = JSON.parse(place.dataset.scenes);
             for (const [number, button] of [...place.querySelectorAll('li button')].entries()) {
               button.click();
               for (let step = 0; step < scenes[number].steps.length; step++) {
                 if (step) [...place.querySelectorAll('form button')][1].click();
                 const result = await answered(place);
                 const said = place.querySelector('[role=status]').textContent;
                 if (result !== 'expected' && result !== 'shown')
                   wrong.push(`${scenes[number].name}, step ${step}: ${said}`);
                 asked += result === 'expected';
               }
             }
           }
           return asked < 100 ? `only ${asked} answers` : wrong.join('; ');
         })()",
    );
    assert_eq!(wrong, "");
    assert_eq!(browser.value(loaded), 1);
}

/// Checks, on a wide screen in light mode and on a narrow one in dark mode, that the figures work
/// with the keyboard, are accessible, and are no wider than the screen.
#[test]
fn figures_are_accessible() {
    let Some(mut browser) = Browser::start(1400, 1000) else { return };
    let Some(server) = Server::start(&["mfa", "tbl"]) else { return };
    for (width, dark) in [(1400, false), (400, true)] {
        browser.size(width, 900);
        browser.prefer(dark, false);
        server.open(&mut browser);
        browser.value("document.querySelector('.live input').select()");
        for key in ["2", "x", "2", "Enter"] {
            browser.press(key);
        }
        let status = "document.querySelector('.live [role=status]').textContent";
        browser.until(&format!("{status}.includes('2x2 at')"));
        let before = browser.value(status);
        browser.value("document.querySelector('.live .stage').focus()");
        for key in ["ArrowUp", "Enter"] {
            browser.press(key);
        }
        browser.until("!document.querySelectorAll('.live form button')[2].disabled");
        browser.until("document.querySelector('.live').dataset.result === 'shown'");
        browser.value("document.querySelectorAll('.live form button')[1].click()");
        browser.until("document.querySelector('.live').dataset.result === 'shown'");
        assert_ne!(browser.value(status), before);
        browser.value("document.querySelectorAll('.live')[1].querySelector('li button').click()");
        browser.until("document.querySelectorAll('.live')[1].dataset.result === 'shown'");
        let wide = browser.value("document.documentElement.scrollWidth");
        assert!(wide.as_u64() <= Some(u64::from(width)), "{wide} at {width}");
        browser.picture(&format!("figure-{width}"));
        let Some(found) = browser.barriers() else { return };
        assert!(found.is_empty(), "{width}, dark {dark}:\n{found}");
    }
}
