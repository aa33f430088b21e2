//! A headless Chromium, controlled through a pipe.
#![allow(clippy::disallowed_methods, reason = "a limit on waiting")]

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Value, json};

const REQUIRED: &str = "PAVIOR_REQUIRE_BROWSER";

/// The directories for npm packages installed by `cargo xtask step viewer` or manually.
const INSTALLED: [&str; 2] =
    ["../../target/viewer/node_modules", "../../crates/viewer/page/node_modules"];

/// The maximum time to wait for the page, on a busy machine.
const MAX_WAIT: Duration = Duration::from_mins(5);
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// The time allowed for a page to draw a change before a screenshot.
const DRAWING_TIME: Duration = Duration::from_millis(800);

/// A browser with a single page. Dropping it closes the browser.
pub struct Browser {
    process: Child,
    send: File,
    receive: BufReader<File>,
    session: Option<String>,
    number: u64,
    folder: tempfile::TempDir,
    _alone: MutexGuard<'static, ()>,
}

static ALONE: Mutex<()> = Mutex::new(());

impl Browser {
    /// Starts a browser with a screen of the given size. Returns `None` if Chromium is neither
    /// installed nor required.
    pub fn start(width: u32, height: u32) -> Option<Browser> {
        if !crate::is_installed("chromium") {
            let why = "Chromium is not installed (apt-get install chromium)";
            crate::skipped("the page in a browser", why, REQUIRED);
            return None;
        }
        // Browsers run one at a time, because each one keeps a processor busy while drawing.
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let browser = Browser::launch(width, height, alone);
        Some(browser.expect("Chromium starts"))
    }

    fn launch(width: u32, height: u32, alone: MutexGuard<'static, ()>) -> Option<Browser> {
        let folder = tempfile::TempDir::new().ok()?;
        let pipe = |name: &str| folder.path().join(name);
        for name in ["in", "out"] {
            assert!(Command::new("mkfifo").arg(pipe(name)).status().ok()?.success());
        }
        let script = "exec chromium --headless=new --no-sandbox --disable-dev-shm-usage \
            --enable-unsafe-swiftshader --use-angle=swiftshader --no-first-run \
            --user-data-dir=\"$0/profile\" --window-size=$1 --remote-debugging-pipe \
            about:blank 3<\"$0/in\" 4>\"$0/out\" 2>/dev/null";
        let process = Command::new("sh")
            .args(["-c", script])
            .arg(folder.path())
            .arg(format!("{width},{height}"))
            .stdout(Stdio::null())
            .spawn()
            .ok()?;
        let send = OpenOptions::new().write(true).open(pipe("in")).ok()?;
        let receive = BufReader::new(File::open(pipe("out")).ok()?);
        let mut browser =
            Browser { process, send, receive, session: None, number: 0, folder, _alone: alone };
        let page = browser.first_page()?;
        let attach = json!({ "targetId": page, "flatten": true });
        let session = browser.call("Target.attachToTarget", &attach);
        browser.session = session["sessionId"].as_str().map(str::to_string);
        browser.size(width, height);
        browser.prefer(false, false);
        Some(browser)
    }

    /// Waits for the first page and returns its identifier.
    fn first_page(&mut self) -> Option<Value> {
        let began = Instant::now();
        while began.elapsed() < MAX_WAIT {
            let targets = self.call("Target.getTargets", &json!({}));
            let page = targets["targetInfos"].as_array()?.iter().find(|one| one["type"] == "page");
            if let Some(page) = page {
                return Some(page["targetId"].clone());
            }
            std::thread::sleep(POLL_INTERVAL);
        }
        None
    }

    /// Calls a protocol method and waits for the response.
    pub fn call(&mut self, method: &str, parameters: &Value) -> Value {
        self.number += 1;
        let mut message = json!({ "id": self.number, "method": method, "params": parameters });
        if let Some(session) = &self.session {
            message["sessionId"] = session.as_str().into();
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        self.send.write_all(&bytes).expect("the browser is running");
        loop {
            let mut bytes = Vec::new();
            let read = self.receive.read_until(0, &mut bytes).expect("the browser answers");
            assert!(read > 0, "the browser has exited");
            bytes.pop();
            let answer: Value = serde_json::from_slice(&bytes).expect("answers are JSON");
            if answer["id"] == self.number {
                assert!(answer["error"].is_null(), "{method}: {}", answer["error"]);
                return answer["result"].clone();
            }
        }
    }

    /// Opens a URL.
    pub fn open(&mut self, address: &str) {
        let answer = self.call("Page.navigate", &json!({ "url": address }));
        assert!(answer["errorText"].is_null(), "{address}: {}", answer["errorText"]);
    }

    /// Opens a page from its text, without a server.
    pub fn open_text(&mut self, page: &str) {
        let file = self.folder.path().join("page.html");
        std::fs::write(&file, page).expect("there is room");
        self.open(&format!("file://{}", file.display()));
    }

    /// Returns the value of an expression, which may be a promise.
    pub fn value(&mut self, expression: &str) -> Value {
        let asked =
            json!({ "expression": expression, "awaitPromise": true, "returnByValue": true });
        let answer = self.call("Runtime.evaluate", &asked);
        assert!(answer["exceptionDetails"].is_null(), "{expression}: {answer}");
        answer["result"]["value"].clone()
    }

    /// Waits until an expression is true.
    pub fn until(&mut self, expression: &str) {
        let began = Instant::now();
        while self.value(&format!("Boolean({expression})")) != true {
            if began.elapsed() > MAX_WAIT {
                let shown = self.value("`${location.href}: ${document.body?.innerText}`");
                panic!("still not true: {expression}\nthe page: {shown}");
            }
            std::thread::sleep(POLL_INTERVAL);
        }
    }

    /// Waits until the element with the given id shows the given text.
    pub fn shows(&mut self, element: &str, text: &str) {
        let text = json!(text);
        self.until(&format!("document.getElementById('{element}')?.textContent.includes({text})"));
    }

    /// Presses a key.
    pub fn press(&mut self, key: &str) {
        // The browser's default actions depend on key codes.
        let (text, number) = match key {
            "Tab" => ("", 9),
            "Enter" => ("\r", 13),
            "Escape" => ("", 27),
            _ if key.len() == 1 => (key, 0),
            _ => ("", 0),
        };
        for (kind, text) in [("keyDown", text), ("keyUp", "")] {
            let event = json!({
                "type": kind, "key": key, "code": key, "text": text,
                "windowsVirtualKeyCode": number,
            });
            self.call("Input.dispatchKeyEvent", &event);
        }
    }

    /// Changes the screen size.
    pub fn size(&mut self, width: u32, height: u32) {
        let size = json!({
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600,
        });
        self.call("Emulation.setDeviceMetricsOverride", &size);
    }

    /// Sets the user's preferences for dark mode and reduced motion.
    pub fn prefer(&mut self, dark: bool, still: bool) {
        let scheme = if dark { "dark" } else { "light" };
        let motion = if still { "reduce" } else { "no-preference" };
        let features = json!([
            { "name": "prefers-color-scheme", "value": scheme },
            { "name": "prefers-reduced-motion", "value": motion },
        ]);
        self.call("Emulation.setEmulatedMedia", &json!({ "features": features }));
    }

    /// Writes a screenshot into the directory named by `PAVIOR_SCREENSHOTS`, if one is named.
    pub fn picture(&mut self, name: &str) {
        self.screenshot(&format!("{name}.png"), &json!({ "format": "png" }));
    }

    /// Writes a screenshot in a format that the protocol supports (such as WebP), after the page
    /// has had time to draw.
    pub fn screenshot(&mut self, file: &str, form: &Value) {
        let Some(folder) = std::env::var_os("PAVIOR_SCREENSHOTS") else { return };
        std::thread::sleep(DRAWING_TIME);
        let answer = self.call("Page.captureScreenshot", form);
        let text = answer["data"].as_str().expect("a picture");
        let path = Path::new(&folder).join(file);
        std::fs::write(path, BASE64.decode(text).expect("base 64")).expect("there is room");
    }

    /// Returns all violations of axe-core's accessibility rules on the page, one per line. Returns
    /// `None` if axe-core is neither installed nor required.
    pub fn barriers(&mut self) -> Option<String> {
        let paths = INSTALLED.map(|folder| {
            Path::new(env!("CARGO_MANIFEST_DIR")).join(folder).join("axe-core/axe.min.js")
        });
        let Some(axe) = paths.iter().find_map(|path| std::fs::read_to_string(path).ok()) else {
            let why = "axe-core is not installed (`cargo xtask step viewer`)";
            crate::skipped("accessibility of the page", why, REQUIRED);
            return None;
        };
        self.value(&format!("{axe}; true"));
        let found = self.value(
            "axe.run(document).then(({ violations }) => violations.flatMap(({ id, nodes }) =>
               nodes.map((one) => `${id}: ${one.html.slice(0, 200)}: ${one.failureSummary}`))
               .join('\\n'))",
        );
        Some(found.as_str().expect("a text").to_string())
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
