//! Checks the page and `pavior kube why` against the table of questions and answers that all
//! interfaces share.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use k8s_openapi::jiff::Timestamp;
use pavior_cluster::{ExplainQuery, date};
use pavior_trials::{ANSWERS, in_words_of_the_table};
use serde_json::{Value, json};

use super::model::Model;
use super::small::settle;
use crate::objects::SECONDS;
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
            let held = model.world.jobs.get_mut(&uid).unwrap();
            let annotations = held.metadata.annotations.get_or_insert_default();
            annotations.insert(SECONDS.into(), seconds.to_string());
            settle(&mut model);
            times.push((date(NOW + seconds), seconds));
            names.push((format!("Job default/{name}"), format!("job {}", job["job"])));
        }
        for placement in model.world.placements.values_mut() {
            let now = Time(Timestamp::from_second(NOW as i64).unwrap());
            placement.metadata.creation_timestamp = Some(now);
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
