//! Checks the page and `pavior kube why` against the table of questions and answers that all
//! interfaces share.

use pavior_cluster::{ExplainQuery, date};
use pavior_trials::{ANSWERS, in_words_of_the_table};
use serde_json::{Value, json};

use super::model::{Model, time};
use super::small::settle;
use crate::page::view;
use crate::plan::{Detail, Memory, plan};
use crate::world::Index;

const NOW: u64 = 10_000;

#[test]
fn answers_match_the_shared_table() {
    let cases: Vec<Value> = serde_json::from_str(ANSWERS).unwrap();
    for case in cases {
        let mut model = Model::new("mesh:4x2", &json!({ "strategy": "ff" }));
        let mut times = Vec::new();
        let mut names = vec![("`ff`".to_string(), "`S`".to_string())];
        for job in case["jobs"].as_array().unwrap() {
            let (name, seconds) = (format!("j{}", job["job"]), job["end"].as_u64().unwrap());
            let shape = format!("{}x{}", job["sides"][0], job["sides"][1]);
            let uid = model.add_job(&name, &shape, &json!({}));
            model.limit(&uid, seconds);
            settle(&mut model);
            times.push((date(NOW + seconds), seconds));
            names.push((format!("Job default/{name}"), format!("job {}", job["job"])));
        }
        for placement in model.world.placements.values_mut() {
            placement.metadata.creation_timestamp = Some(time(NOW as i64));
        }
        for node in case["unavailable"].as_array().unwrap() {
            model.cordon(&format!("n{}-{}", node[0], node[1]), true);
        }
        let detail = Detail { picture: true, ..Detail::DAEMON };
        let index = Index::of(&model.world);
        let mut made = plan(&index, "m", &mut Memory::default(), NOW as i64, detail).unwrap();
        let picture = made.picture.take().expect("it was asked for");
        let shown = view("m", picture, &made, NOW, None);
        let shape = serde_json::from_value(case["shape"].clone()).unwrap();
        let asked = ExplainQuery { shape: Some(shape), nodes: None, waiting: None };
        let reply = shown.explain(&asked).unwrap();
        let lines = reply["diagnosis"]["why"].as_array().unwrap().iter();
        let lines = lines.map(|line| in_words_of_the_table(line.as_str().unwrap(), &times, &names));
        assert_eq!(json!(lines.collect::<Vec<_>>()), case["why"], "{}", case["case"]);
    }
}
