//! `pavior kube --observe`: a page that shows the cluster. It writes nothing: this module has no
//! [`Writer`](crate::write::Writer), and its account needs only get, list and watch.

use std::collections::HashMap;
use std::path::Path;

use kube::Client;
use serde_json::json;

use super::log;
use crate::client::KubeError;
use crate::objects::{Machine, Object as _};
use crate::page::Page;
use crate::plan::{Detail, Memory, plan};
use crate::read::ClusterWatch;
use crate::world::Index;

/// Reads a Machine from a file, for a cluster without one.
pub(crate) fn machine(path: &Path) -> Result<Machine, KubeError> {
    let bad = |why: String| KubeError::File { path: path.to_path_buf(), why };
    let text = pavior::files::read_text(path, pavior::files::Limits::DOCUMENT);
    let text = text.map_err(|error| bad(error.to_string()))?;
    let machine: Result<Machine, _> = serde_saphyr::from_str(&text);
    machine.map_err(|error| bad(pavior::text::shown(&error.to_string()).to_string()))
}

/// Shows the cluster until the process ends.
pub(crate) async fn observe(
    client: Client,
    mut page: Page,
    machine: Option<Machine>,
) -> Result<(), KubeError> {
    let (mut watched, mut updates) = match machine {
        Some(machine) => ClusterWatch::begin_with_machine(&client, machine),
        None => ClusterWatch::begin(&client, true),
    };
    let (mut memory, mut faults) = (Memory::default(), HashMap::new());
    loop {
        tokio::select! {
            one = updates.recv() => match one {
                Some(one) => watched.apply(one),
                None => return Err(KubeError::Unreachable("all watches have ended".to_string())),
            },
            () = page.foreseen() => {}
        }
        let whole = watched.gather(&mut updates).await;
        page.note_unreadable(watched.faults());
        if !whole {
            continue;
        }
        page.health.looks(true);
        let index = Index::of(&watched.world);
        for machine in watched.world.machines.values() {
            let name = machine.name();
            let detail = page.detail(name, Detail::OBSERVER);
            let made = plan(&index, name, &mut memory, watched.now(), detail);
            let mut made = match made {
                Ok(made) => made,
                Err(fault) if watched.world.machines.len() > 1 => {
                    if faults.get(name) != Some(&fault) {
                        let more = json!({ "machine": name, "fault": fault });
                        log("warn", "the Machine has a fault", more);
                        faults.insert(name.to_string(), fault);
                    }
                    continue;
                }
                Err(fault) => return Err(KubeError::Machine(format!("{name}: {fault}"))),
            };
            faults.remove(name);
            page.show(name, &mut made, watched.now())?;
        }
        page.health.looks(false);
    }
}
