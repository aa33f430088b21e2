//! `pavior kube --observe`: a cluster as it is, on the page. Nothing is written: here is no
//! [`Carrier`](crate::carry::Carrier), and the account needs get, list and watch alone.

use std::path::Path;

use kube::Client;

use crate::KubeError;
use crate::objects::{Known as _, Machine};
use crate::page::Page;
use crate::plan::{Depth, Memory, plan};
use crate::watch::Watched;
use crate::world::Index;

/// Reads a Machine of a file, where the cluster knows none.
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
    let (mut watched, mut news) = match machine {
        Some(machine) => Watched::begin_without_ours(&client, machine),
        None => Watched::begin(&client, true),
    };
    let mut memory = Memory::default();
    loop {
        tokio::select! {
            one = news.recv() => match one {
                Some(one) => watched.apply(one),
                None => return Err(KubeError::Unreachable("no watch is left".to_string())),
            },
            () = page.foreseen() => {}
        }
        if !watched.gather(&mut news).await {
            continue;
        }
        page.health.looks(true);
        let index = Index::of(&watched.world);
        for machine in watched.world.machines.values() {
            let name = machine.name();
            let depth = page.depth(name, Depth::OBSERVE);
            let made = plan(&index, name, &mut memory, watched.now(), depth);
            let mut made = made.map_err(|fault| KubeError::Machine(format!("{name}: {fault}")))?;
            page.show(name, &mut made, watched.now())?;
        }
        page.health.looks(false);
    }
}
