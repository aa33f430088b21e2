//! A cache of diagnoses. All diagnoses in the same state share the data that does not depend on the
//! request, and identical requests from the same tenant share one diagnosis.
//!
//! To limit memory use, only the latest state is cached, with at most [`MAX_ANSWERS`] answers.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use pavior::Request;
use pavior::answers::Queued;

use crate::core::{Caller, StateView};
use crate::diagnose::{Changes, Diagnosis, DiagnosisQuery, Scene};
use crate::writer::RefusalInState;

/// The maximum number of cached answers.
const MAX_ANSWERS: usize = 256;

/// A cache key: the machine's index, the request, and the caller's tenant.
type Key = (usize, Request, Option<String>);

/// The cache for the state in which a request was most recently diagnosed.
#[derive(Default)]
pub(crate) struct Diagnoses(Mutex<Option<Arc<StateCache>>>);

/// The scenes and answers for one state.
struct StateCache {
    view: Arc<StateView>,
    scenes: Vec<OnceLock<Scene>>,
    answers: Mutex<HashMap<Key, Diagnosis>>,
}

impl Diagnoses {
    pub(crate) fn cached(&self, caller: &Caller, refusal: &RefusalInState) -> Option<Diagnosis> {
        let cache = self.cache_for(&refusal.view);
        let answers = cache.answers.lock();
        answers.get(&key(caller, refusal)).cloned()
    }

    /// Diagnoses a request in the state in which it was refused. For N nodes, takes O(leases + N)
    /// for the first request in a state and O(N + blocking leases) for each later one.
    pub(crate) fn diagnosis(&self, caller: &Caller, refusal: &RefusalInState) -> Diagnosis {
        let RefusalInState { refused, view } = refusal;
        let (cache, board) = (self.cache_for(view), &view.boards[refused.board]);
        let key = key(caller, refusal);
        if let Some(diagnosis) = cache.answers.lock().get(&key) {
            return diagnosis.clone();
        }
        let scene = cache.scenes[refused.board].get_or_init(|| Scene::in_view(view, refused.board));
        let question = DiagnosisQuery {
            view,
            board,
            changes: &Changes::default(),
            request: refused.request,
            queued: Queued::First,
            planned: None,
            // A search for moves would take too long.
            plans: false,
            caller,
        };
        let diagnosis = question.diagnose(scene, &refused.demand, refused.by_count);
        let mut answers = cache.answers.lock();
        if answers.len() < MAX_ANSWERS {
            answers.insert(key, diagnosis.clone());
        }
        diagnosis
    }

    /// Returns the cache for a state, discarding the cache for any other state.
    fn cache_for(&self, view: &Arc<StateView>) -> Arc<StateCache> {
        let mut last = self.0.lock();
        // Record numbers cannot identify states, because numbers are reused after a failed write.
        if let Some(cache) = last.as_ref().filter(|cache| Arc::ptr_eq(&cache.view, view)) {
            return cache.clone();
        }
        let scenes = view.boards.iter().map(|_| OnceLock::new()).collect();
        let cache = Arc::new(StateCache { view: view.clone(), scenes, answers: Mutex::default() });
        *last = Some(cache.clone());
        cache
    }
}

fn key(caller: &Caller, RefusalInState { refused, .. }: &RefusalInState) -> Key {
    (refused.board, refused.request, caller.tenant.clone())
}
