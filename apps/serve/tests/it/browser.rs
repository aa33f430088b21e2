//! A real Chromium without a screen, spoken to through a pipe.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Value, json};

/// A browser with one page; ended when dropped.
pub(crate) struct Browser {
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
    /// `None` where there is no Chromium, and none is required.
    pub(crate) fn start(width: u32, height: u32) -> Option<Browser> {
        let found = Command::new("chromium").arg("--version").stderr(Stdio::null()).output();
        if !found.is_ok_and(|output| output.status.success()) {
            let why = "no Chromium: apt-get install chromium";
            pavior_trials::skipped("the page in a browser", why, "PAVIOR_REQUIRE_BROWSER");
            return None;
        }
        // One at a time: each keeps a processor busy by drawing.
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
        let targets = browser.call("Target.getTargets", &json!({}));
        let page = targets["targetInfos"].as_array()?.iter().find(|one| one["type"] == "page")?;
        let attach = json!({ "targetId": page["targetId"], "flatten": true });
        let session = browser.call("Target.attachToTarget", &attach);
        browser.session = session["sessionId"].as_str().map(str::to_string);
        let size = json!({
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600,
        });
        browser.call("Emulation.setDeviceMetricsOverride", &size);
        Some(browser)
    }

    /// Calls a method, and waits for its answer.
    pub(crate) fn call(&mut self, method: &str, parameters: &Value) -> Value {
        self.number += 1;
        let mut message = json!({ "id": self.number, "method": method, "params": parameters });
        if let Some(session) = &self.session {
            message["sessionId"] = session.as_str().into();
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        self.send.write_all(&bytes).expect("the browser lives");
        loop {
            let mut bytes = Vec::new();
            let read = self.receive.read_until(0, &mut bytes).expect("the browser answers");
            assert!(read > 0, "the browser has ended");
            bytes.pop();
            let answer: Value = serde_json::from_slice(&bytes).expect("answers are JSON");
            if answer["id"] == self.number {
                assert!(answer["error"].is_null(), "{method}: {}", answer["error"]);
                return answer["result"].clone();
            }
        }
    }

    pub(crate) fn open(&mut self, address: &str) {
        self.call("Page.navigate", &json!({ "url": address }));
    }

    /// Opens a page that no server serves.
    pub(crate) fn open_text(&mut self, page: &str) {
        let file = self.folder.path().join("page.html");
        std::fs::write(&file, page).expect("there is room");
        self.open(&format!("file://{}", file.display()));
    }

    /// The value of an expression, which may be a promise.
    pub(crate) fn value(&mut self, expression: &str) -> Value {
        let asked =
            json!({ "expression": expression, "awaitPromise": true, "returnByValue": true });
        let answer = self.call("Runtime.evaluate", &asked);
        assert!(answer["exceptionDetails"].is_null(), "{expression}: {answer}");
        answer["result"]["value"].clone()
    }

    /// Waits until an expression is true.
    pub(crate) fn until(&mut self, expression: &str) {
        let began = Instant::now();
        while self.value(&format!("Boolean({expression})")) != true {
            assert!(began.elapsed() < Duration::from_mins(2), "it never holds: {expression}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Waits until an element has a text.
    pub(crate) fn shows(&mut self, element: &str, text: &str) {
        let text = json!(text);
        self.until(&format!("document.getElementById('{element}')?.textContent.includes({text})"));
    }

    /// Presses a key.
    pub(crate) fn press(&mut self, key: &str) {
        let text = if key.len() == 1 { key } else { "" };
        for kind in ["keyDown", "keyUp"] {
            let text = if kind == "keyDown" { text } else { "" };
            let event = json!({ "type": kind, "key": key, "text": text });
            self.call("Input.dispatchKeyEvent", &event);
        }
    }

    /// Writes what is seen into a folder, if `PAVIOR_SCREENSHOTS` names one.
    pub(crate) fn picture(&mut self, name: &str) {
        let Some(folder) = std::env::var_os("PAVIOR_SCREENSHOTS") else { return };
        let answer = self.call("Page.captureScreenshot", &json!({ "format": "png" }));
        let text = answer["data"].as_str().expect("a picture");
        let path = Path::new(&folder).join(format!("{name}.png"));
        std::fs::write(path, BASE64.decode(text).expect("base 64")).expect("there is room");
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
