//! Tests that the observer answers correctly and changes nothing.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::attacks::programs::{IDLE, Programs};
use crate::cluster::Cluster;

/// A running observer, with the address of its page.
pub(crate) struct Observer {
    child: Child,
    address: String,
}

impl Observer {
    /// Starts an observer and waits until its page shows Slurm's state.
    pub(crate) fn start(mut command: Command) -> Observer {
        let mut child = command.stderr(Stdio::piped()).stdin(Stdio::null()).spawn().unwrap();
        let mut log = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        log.read_line(&mut line).unwrap();
        let started: Value = serde_json::from_str(&line).unwrap();
        let page = started["page"].as_str().unwrap();
        let address = page.trim_start_matches("http://").trim_end_matches('/').to_string();
        // Read the observer's log, because the observer would block if the pipe filled up.
        std::thread::spawn(move || std::io::copy(&mut log, &mut std::io::sink()));
        let observer = Observer { child, address };
        for _ in 0..3000 {
            if observer.get("/metrics").contains("\npavior_slurm_up 1\n") {
                return observer;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        panic!("the observer cannot reach Slurm: {}", observer.get("/metrics"));
    }

    fn send(&self, request: &str) -> String {
        send(&self.address, request)
    }

    /// Returns the whole response, including headers.
    pub(crate) fn get(&self, path: &str) -> String {
        self.send(&format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"))
    }

    fn post(&self, path: &str, body: &str) -> String {
        let head = "Host: 127.0.0.1:9322\r\nContent-Type: application/json";
        let length = body.len();
        self.send(&format!(
            "POST {path} HTTP/1.1\r\n{head}\r\nContent-Length: {length}\r\n\r\n{body}"
        ))
    }

    pub(crate) fn state(&self) -> Value {
        json(&self.get("/v1/state"))
    }

    /// Stops the observer. Returns true if it exits successfully.
    fn stop(mut self, signal: impl FnOnce(u32)) -> bool {
        signal(self.child.id());
        self.child.wait().unwrap().success()
    }
}

impl Drop for Observer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Sends an HTTP request and returns the whole response.
pub(crate) fn send(address: impl ToSocketAddrs, request: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text
}

/// Parses the JSON body of a response.
fn json(answer: &str) -> Value {
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.contains("application/json") && head.contains("nosniff"), "{head}");
    serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {body}"))
}

/// Job records. One job's nodes do not form a box, one job has a hostile comment, and two have no
/// shape.
const SQUEUE: &str = "runs 7 3 'n[0,1,4]' ''
    job 8 PD \"$(printf '</script>\\033[2J')\" 9 4 '' '' N/A 1:00 100 '(null)' \
        \"$(printf 'shape=2x2 <b>\\033[31m')\"
    job 9 PD Resources 8 5 '' '' N/A 1:00 100 '(null)' ''
    job 10 PD Priority 7 2 '' 'n[6-7]' N/A 1:00 100 '(null)' ''";

#[test]
fn the_observer_changes_nothing() {
    let sinfo = IDLE.replace("|idle", "|$([ $node = 5 ] && echo allocated || echo idle)");
    let programs = Programs::new(&sinfo, SQUEUE);
    programs.record_calls();
    let observer = Observer::start(programs.command(&["--observe", "127.0.0.1:0"]));
    let state = observer.state();
    let of = |list: &str, id: &str| {
        let all = state[list].as_array().unwrap();
        all.iter().find(|one| one["id"] == id).unwrap_or_else(|| panic!("{id}: {state}")).clone()
    };
    // A job whose nodes do not form a box is shown on its actual nodes.
    assert_eq!(of("leases", "7")["nodes"], 3);
    assert_eq!(of("leases", "7")["parts"].as_array().unwrap().len(), 2);
    // The observer cannot see the job that occupies this node.
    assert_eq!(of("leases", "another")["parts"][0]["base"], serde_json::json!([1, 1]));
    assert_eq!(of("waiting", "9")["requested"], 5);
    // A waiting job that names nodes does not hold them.
    assert_eq!(state["leases"].as_array().unwrap().len(), 2);
    let why = observer.get("/v1/why/9");
    assert!(why.contains("Slurm reports Resources") && why.contains("3x2"), "{why}");
    let explained = json(&observer.post("/v1/explain", "{\"waiting\":\"9\"}"));
    assert_eq!(explained["strategies"][0]["granted"], false, "{explained}");
    assert!(explained["diagnosis"]["why"][0].is_string(), "{explained}");
    let slots = json(&observer.get("/v1/slots?shape=2x2"));
    let count = slots["slots"].as_u64().unwrap();
    assert_eq!(slots["boxes"].as_array().unwrap().len() as u64, count, "{slots}");
    assert!(slots["proven"] == true && slots["bound"] == count, "{slots}");
    assert!(observer.get("/v1/slots?shape=2xx").contains("side"));
    // The request comes from another site's page, whose host name resolves to this host.
    let stranger = observer.send("GET /v1/state HTTP/1.1\r\nHost: evil.example\r\n\r\n");
    assert!(stranger.starts_with("HTTP/1.1 421 ") && !stranger.contains("leases"), "{stranger}");
    send_hostile_requests(&observer);
    // The observer runs for a few more cycles before it is stopped.
    std::thread::sleep(Duration::from_secs(2));
    let kill = |pid: u32| {
        assert!(Command::new("kill").arg(pid.to_string()).status().unwrap().success());
    };
    assert!(observer.stop(kill));
    let calls = std::fs::read_to_string(programs.path().join("calls")).unwrap();
    let queries = ["sinfo ", "squeue ", "scontrol show "];
    let others =
        calls.lines().filter(|call| !queries.iter().any(|query| call.starts_with(query))).count();
    let count = calls.lines().count();
    assert!(count > 5, "{calls}");
    pavior_trials::attacked("slurm", "an observer changes something", count, others);
    assert_eq!(others, 0, "{calls}");
}

/// Checks that no response contains raw user text, and that no request causes a server error.
fn send_hostile_requests(observer: &Observer) {
    let paths = [
        "/v1/state",
        "/v1/queue",
        "/v1/queue?limit=18446744073709551615",
        "/v1/queue?limit=-1",
        "/v1/why/8",
        "/v1/why/%1b%5b2J",
        "/v1/why/..%2f..%2fetc",
        "/v1/watch?after=1",
        "/v1/watch?after=18446744073709551615",
        "/v1/series",
        "/v1/state?at_ms=1",
        "/../etc/passwd",
    ];
    let bodies =
        ["{", "[]", "{\"shape\":[4294967296,1]}", "{\"nodes\":0}", "{\"waiting\":\"8\\u001b\"}"];
    let posts = bodies.iter().map(|body| observer.post("/v1/explain", body));
    let long = observer.post("/v1/explain", &format!("{{\"nodes\":1{}}}", " ".repeat(9000)));
    let answers = paths.iter().map(|path| observer.get(path)).chain(posts).chain([long]);
    let mut tried = 0;
    for answer in answers {
        tried += 1;
        let head = answer.split("\r\n").next().unwrap();
        let bad =
            head.contains(" 500 ") || answer.contains('\u{1b}') || !head.starts_with("HTTP/1.1");
        assert!(!bad, "{answer:?}");
    }
    pavior_trials::attacked("slurm", "hostile requests to an observer", tried, 0);
}

/// Opens an observer's page for a three-dimensional torus with 10,000 waiting jobs.
#[test]
fn the_page_shows_ten_thousand_waiting_jobs() {
    let Some(mut browser) = pavior_trials::Browser::start(1400, 900) else { return };
    let sinfo = "node=0; while [ $node -lt 512 ]; do
        echo \"n$node|idle|(null)|(null)|100|1|1:1:1|0\"; node=$((node + 1)); done";
    // The records come from a file, with a placeholder for the mark.
    let squeue = "sed \"s/@/$M/g\" \"$FOLDER/records\"";
    let programs = Programs::new(sinfo, squeue);
    programs.set_machine("torus:8x8x8");
    let record = |id: u32, state: &str, nodes: u32, held: &str| {
        let rest = "p@(null)@(null)@0@(null)@(null)@N/A@0@1@1@*:*:*@0@@N/A@(null)@";
        let start = if held.is_empty() { "N/A" } else { "1000000" };
        format!("@{id}@{state}@Resources@9@{nodes}@{held}@@{start}@1:00@100@(null)@{rest}\n")
    };
    let mut records = record(1, "R", 64, "n[0-63]") + &record(2, "R", 128, "n[128-255]");
    for id in 0..10_000 {
        records += &record(100 + id, "PD", 1 + id % 64, "");
    }
    std::fs::write(programs.path().join("records"), records).unwrap();
    let observer = Observer::start(programs.command(&["--observe", "127.0.0.1:0"]));
    browser.open(&format!("http://{}/", observer.address));
    browser.shows("waiting-count", "10,000");
    browser.shows("used-share", "37%");
    browser.shows("fits-size", "8×8×4");
    assert_eq!(browser.value("window.pavior.stage.isDeep"), true);
    browser.value("document.getElementById('tab-waiting').click()");
    browser.shows("waiting", "Resources");
    let elements = browser.value("document.querySelectorAll('*').length").as_u64().unwrap();
    assert!(elements < 1500, "{elements} elements");
    browser.value("document.getElementById('waiting').scrollTop = 1e9");
    browser.shows("waiting", "10099");
    browser.value("document.querySelector('#waiting .act').click()");
    browser.shows("answer", "Slurm reports Resources");
    // An observer grants nothing and stores no history.
    let hidden = "['live', 'play', 'tab-refused', 'first'].every((id) => \
                  !document.getElementById(id).offsetParent)";
    assert_eq!(browser.value(hidden), true);
    if let Some(found) = browser.barriers() {
        assert_eq!(found, "");
    }
    browser.picture("observer");
    browser.size(400, 900);
    browser.until("document.documentElement.scrollWidth <= innerWidth");
    browser.picture("observer-phone");
}

/// Compares an ordinary user's page with the output of `squeue`.
pub(crate) fn compare_with_squeue(cluster: &Cluster) {
    let all = "squeue -h -r -o '%i %t %Q %n %W %k'; scontrol show reservation -o; sinfo -h -N";
    let before = cluster.run(all);
    let observer = Observer::start(cluster.observer());
    let told = cluster.run("squeue -h -r -t PD -o %i");
    let state = observer.state();
    let waiting = state["waiting"].as_array().unwrap();
    let mut shown: Vec<&str> = waiting.iter().map(|one| one["id"].as_str().unwrap()).collect();
    let mut listed: Vec<&str> = told.lines().collect();
    shown.sort_unstable();
    listed.sort_unstable();
    assert_eq!(shown, listed);
    std::thread::sleep(Duration::from_secs(2));
    assert!(observer.stop(|_| cluster.signal("observer", "TERM")));
    assert_eq!(cluster.run(all), before);
}
