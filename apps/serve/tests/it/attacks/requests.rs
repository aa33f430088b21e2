//! Checks that malformed requests are never executed: requests with duplicate members, with unknown
//! parameters, or with bodies that are not JSON.

use serde_json::Value;

use crate::random::Random;
use crate::server::served;

/// Paths with valid bodies.
const BODIES: [(&str, &str); 9] = [
    ("/v1/leases", r#"{"shape":[1,1],"ttl_s":60,"job":"a","wait":false}"#),
    ("/v1/hold", r#"{"parts":[{"base":[0,0],"sides":[1,1]}],"ttl_s":9,"job":7}"#),
    ("/v1/nodes/fail", r#"{"node":[3,3],"machine":"default"}"#),
    ("/v1/nodes/drain", r#"{"node":[3,3]}"#),
    ("/v1/explain", r#"{"shape":[2,2],"freedom":"turned","strategies":["ff","gabl"]}"#),
    ("/v1/what-if", r#"{"nodes":3,"end":[],"fail":[[1,1]],"repair":[[2,2]]}"#),
    ("/v1/unblock", r#"{"shape":[2,2],"max_jobs":1}"#),
    ("/v1/leases/1/end", r#"{"epoch":2}"#),
    (
        "/v1/batch",
        r#"{"operations":[{"lease":{"nodes":2,"ttl_s":5}},{"end":{"id":1,"epoch":2}},
            {"fail":{"node":[0,0],"machine":"default"}}]}"#,
    ),
];

/// Duplicates a random member of a body. The copy may use any JSON spelling of the name.
fn twice(body: &str, random: &mut Random) -> String {
    let value: Value = serde_json::from_str(body).unwrap();
    let objects = count(&value);
    let mut chosen = random.below(objects);
    let mut text = String::new();
    write(&value, &mut chosen, random, &mut text);
    text
}

fn count(value: &Value) -> u64 {
    match value {
        Value::Array(list) => list.iter().map(count).sum(),
        Value::Object(members) => 1 + members.values().map(count).sum::<u64>(),
        _ => 0,
    }
}

fn write(value: &Value, chosen: &mut u64, random: &mut Random, text: &mut String) {
    match value {
        Value::Array(list) => {
            text.push('[');
            for (index, one) in list.iter().enumerate() {
                text.push_str(if index > 0 { "," } else { "" });
                write(one, chosen, random, text);
            }
            text.push(']');
        }
        Value::Object(members) => {
            let own = *chosen == 0;
            *chosen = chosen.wrapping_sub(1);
            let again = own.then(|| random.below(members.len() as u64) as usize);
            let mut written = Vec::new();
            for (index, (name, one)) in members.iter().enumerate() {
                let mut inner = String::new();
                write(one, chosen, random, &mut inner);
                written.push(format!("\"{name}\":{inner}"));
                if again == Some(index) {
                    let other = ["null", "1", "2.0", "[]", "{}", "true", "\"a\""];
                    let other = other[random.below(7) as usize];
                    let value = if random.one_in(2) { &inner } else { other };
                    written.push(format!("{}:{value}", spelled(name, random)));
                }
            }
            // The two members may be in any position.
            let turn = random.below(written.len() as u64) as usize;
            written.rotate_left(turn);
            text.push_str(&format!("{{{}}}", written.join(", ")));
        }
        other => text.push_str(&other.to_string()),
    }
}

/// Quotes a member's name, escaping some of its letters.
fn spelled(name: &str, random: &mut Random) -> String {
    let letter = |c: char| match random.below(4) {
        0 => format!("\\u{:04x}", u32::from(c)),
        _ => c.to_string(),
    };
    format!("\"{}\"", name.chars().map(letter).collect::<String>())
}

/// Sends requests that must be refused with a given status. Counts the requests that were not
/// refused or that changed the state.
fn refused(
    attack: &str,
    status: u16,
    mut request: impl FnMut() -> (&'static str, String, String, &'static str),
) {
    let (_server, mut client) = served(|_| {});
    client.lease(r#"{"shape":[8,2]}"#);
    let (mut failed, tried) = (0, pavior_trials::size(2000, 2000, 60_000));
    let before = client.get("/v1/state").text;
    for _ in 0..tried {
        let (method, path, body, kind) = request();
        let reply = client.send(method, &path, &body, &[("Content-Type", kind)]);
        let is_problem =
            reply.kind == "application/problem+json" && reply.json()["detail"].is_string();
        if reply.status != status || !is_problem {
            println!("{method} {path} {kind} {body}: {} {}", reply.status, reply.text);
            failed += 1;
        }
    }
    failed += usize::from(client.get("/v1/state").text != before);
    pavior_trials::attacked("http", attack, tried, failed);
}

#[test]
fn duplicate_members_are_never_carried_out() {
    let mut random = Random(38);
    refused("duplicate members in bodies", 400, || {
        let (path, body) = BODIES[random.below(9) as usize];
        ("POST", path.to_string(), twice(body, &mut random), "application/json")
    });
}

#[test]
fn unknown_parameters_are_never_ignored() {
    let mut random = Random(39);
    let reads = ["/v1/leases", "/v1/state", "/v1/machine", "/v1/queue", "/v1/series", "/healthz"];
    let names =
        ["tenant", "Machine", "limit%00", "at_s", "wait%20", "=", "%ff", "__proto__", "a[]"];
    refused("unknown parameters", 400, || {
        let name = names[random.below(9) as usize];
        let query = match random.below(3) {
            0 => format!("{name}=a"),
            1 => format!("x=1&{name}=2"),
            _ => format!("{name}&{name}"),
        };
        if random.one_in(2) {
            let (path, body) = BODIES[random.below(9) as usize];
            return ("POST", format!("{path}?{query}"), body.to_string(), "application/json");
        }
        let path = reads[random.below(6) as usize];
        ("GET", format!("{path}?{query}"), String::new(), "application/json")
    });
}

#[test]
fn bodies_of_cross_site_requests_are_never_read() {
    let mut random = Random(40);
    let kinds = [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=a",
        "text/plain; application/json",
        "application/json, text/plain",
        "application/json; charset=utf-16",
        "application/jsonx",
        "",
    ];
    refused("bodies that are not declared as JSON", 415, || {
        let (path, body) = BODIES[random.below(9) as usize];
        ("POST", path.to_string(), body.to_string(), kinds[random.below(8) as usize])
    });
}
