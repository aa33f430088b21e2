//! Checks that the WebAssembly module and the native engine give byte-for-byte identical replies.

use std::path::Path;
use std::process::Command;

use pavior_browser::Engine;
use serde_json::{Value, json};

/// Returns settings that exercise different parts of the engine, such as schedulers, failures,
/// freedoms, messages and random choices.
fn settings() -> Vec<Value> {
    let texts = [
        "machine=torus:8x8x8 strategy=ff load=2",
        "machine=torus:8x8x8 strategy=tff scheduler=easy load=2",
        "machine=mesh:32x32 strategy=mbs scheduler=conservative load=3 seed=7",
        "machine=mesh:16x16 strategy=gabl load=3 sides=exponential seed=3",
        "machine=mesh:16x16 strategy=random scheduler=ssd load=2 seed=5",
        "machine=grid:8wx8x4 strategy=tff scheduler=easy load=1.5 mttf=2000 mttr=5 seed=9",
        "machine=torus:8x8x4 strategy=bf scheduler=easy load=2 freedom=any",
        "machine=torus:16x16 strategy=tff load=2 migration=0 freedom=any:25%",
        "machine=mesh:16x16 strategy=tff load=0.01 service=messages jobs=60",
    ];
    texts.map(|text| of_words(&format!("jobs=400 {text}"))).to_vec()
}

fn of_words(text: &str) -> Value {
    let words = text.split(' ').map(|word| word.split_once('=').expect("a name and a value"));
    words.map(|(name, value)| (name.to_string(), json!(value))).collect()
}

/// Returns a log of 300 jobs in the Standard Workload Format.
fn log() -> String {
    let line = |job: u64| {
        let (submit, run, nodes) = (60 * job, 300 + 97 * (job % 41), 1 + 13 * job % 60);
        format!(
            "{job} {submit} -1 {run} {nodes} -1 -1 {nodes} {} -1 1 1 1 -1 1 -1 -1 -1\n",
            2 * run
        )
    };
    (1..=300).map(line).collect()
}

fn messages() -> Vec<Vec<u8>> {
    let mut commands = vec![json!({ "do": "registries" })];
    for (number, settings) in settings().into_iter().enumerate() {
        let run = number % 2;
        commands.push(json!({ "do": "open", "run": run, "settings": settings }));
        for until in [Value::Null, json!(3.5), json!(20.0)] {
            let step = json!({ "do": "step", "run": run, "instants": 1_000_000, "until": until });
            let first = json!({ "do": "step", "run": run, "instants": 7 });
            commands.push(if until.is_null() { first } else { step });
            let machine = settings["machine"].as_str().expect("a text");
            let is_flat = machine.matches('x').count() == 1;
            let shapes = if is_flat { ["4x4", "9x7", "0x1"] } else { ["4x4x4", "3x3x2", "0x1"] };
            for shape in shapes {
                commands.push(json!({ "do": "ask", "run": run, "shape": shape }));
            }
        }
        commands.push(json!({ "do": "step", "run": run, "instants": 1_000_000_000 }));
        commands.push(json!({ "do": "difference", "runs": [0, run] }));
        commands.push(json!({ "do": "simulate", "settings": settings }));
    }
    commands.push(json!({ "do": "open", "run": 0, "settings": { "strategy": "tfff" } }));
    let jobs =
        json!([[{ "base": [1, 2], "sides": [4, 3] }], [{ "base": [5, 5], "sides": [2, 2] }]]);
    for (strategy, request) in [("mfa", "3x2"), ("wf", "2x2"), ("gabl", "6x6"), ("ff", "8x5")] {
        let scene = json!({
            "do": "explain", "machine": "mesh:8x8", "jobs": jobs, "strategy": strategy,
            "request": request,
        });
        commands.push(scene);
    }
    let mut messages: Vec<Vec<u8>> = commands.iter().map(|one| one.to_string().into()).collect();
    messages.push(format!("{}\n{}", json!({ "do": "log", "name": "a.swf" }), log()).into());
    let replay = of_words("machine=torus:4x4x4 strategy=tff scheduler=easy trace=a.swf");
    let advise = json!({ "do": "advise", "settings": replay, "all": false });
    let simulate = json!({ "do": "simulate", "settings": replay });
    messages.extend([simulate, advise].map(|one| one.to_string().into()));
    messages
}

fn in_node(module: &Path, messages: &[Vec<u8>]) -> Vec<String> {
    let folder = std::env::temp_dir().join(format!("pavior-messages-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("there is room");
    for (number, message) in messages.iter().enumerate() {
        std::fs::write(folder.join(number.to_string()), message).expect("there is room");
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/engine.mjs");
    let run = Command::new("node").arg(script).arg(module).arg(&folder).output();
    let _ = std::fs::remove_dir_all(&folder);
    let output = run.expect("Node runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8").lines().map(String::from).collect()
}

#[test]
fn a_browser_and_a_native_program_give_the_same_bytes() {
    let Some(module) = crate::built("pavior.wasm") else { return };
    let messages = messages();
    let mut engine = Engine::default();
    let native: Vec<String> = messages.iter().map(|message| engine.answer(message)).collect();
    let node = in_node(&module, &messages);
    assert_eq!(node.len(), native.len());
    let mut failed = 0;
    for ((message, native), node) in messages.iter().zip(&native).zip(&node) {
        let shown: String = String::from_utf8_lossy(message).chars().take(200).collect();
        assert_eq!(node, native, "{shown}");
        failed += usize::from(native.starts_with(r#"{"error""#));
    }
    // Only commands that contain the shape 0x1 (three per setting) or an unknown strategy may fail.
    assert_eq!(failed, 3 * settings().len() + 1);
}

#[test]
fn results_equal_those_of_the_same_experiment() {
    use pavior::experiments::{Environment, Keys, NoStore, Setting, Shard, Specification};
    let all = of_words("machine=mesh:16x16 strategy=tff load=2 jobs=100");
    let message = json!({ "do": "simulate", "settings": all });
    let reply = Engine::default().answer(message.to_string().as_bytes());
    let given = all.as_object().expect("settings").iter();
    let mut settings: Vec<Setting> =
        given.map(|(name, value)| Setting::new(name, value.as_str().expect("a text"))).collect();
    settings.push(Setting::new("timing", "false"));
    let specification = Specification::from_settings(&settings, "simulate", Keys::Options);
    let specification = specification.expect("they are valid");
    let samples = specification
        .run(Vec::new(), Shard::WHOLE, Environment::PLAIN, &mut NoStore)
        .expect("it runs");
    assert_eq!(reply, specification.to_json(&samples).to_string());
    assert!(reply.contains(r#""waiting":{"mean":"#), "{reply}");
}
