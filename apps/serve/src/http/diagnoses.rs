//! Diagnoses of refusals. Questions about one state share everything that does not depend on the
//! request, and equal questions by one caller share the answer.
//!
//! Only the last state is cached: memory is bounded by its snapshot and [`MOST`] answers.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use pavior::Request;
use pavior::answers::Queued;

use crate::core::{Caller, StateView};
use crate::diagnose::{Changes, Diagnosis, Question, Scene};
use crate::writer::RefusalInState;

/// The maximum number of cached answers.
const MOST: usize = 256;

/// A request on a machine and the caller.
type Asking = (usize, Request, Option<String>);

/// Diagnoses in the last state for which any were requested.
#[derive(Default)]
pub(crate) struct Diagnoses(Mutex<Option<Arc<Known>>>);

/// The scenes and answers of one state.
struct Known {
    view: Arc<StateView>,
    /// The scene of each machine.
    scenes: Vec<OnceLock<Scene>>,
    answers: Mutex<HashMap<Asking, Diagnosis>>,
}

impl Diagnoses {
    /// Returns the answer to a question, if known.
    pub(crate) fn known(&self, caller: &Caller, refusal: &RefusalInState) -> Option<Diagnosis> {
        let known = self.of(&refusal.view);
        let answers = known.answers.lock();
        answers.get(&asking(caller, refusal)).cloned()
    }

    /// Diagnoses a request in the state in which it was refused. O(leases + N) for the first
    /// request in a state, O(N + blocking leases) for others.
    pub(crate) fn diagnosis(&self, caller: &Caller, refusal: &RefusalInState) -> Diagnosis {
        if let Some(known) = self.known(caller, refusal) {
            return known;
        }
        let RefusalInState { refused, view } = refusal;
        let (known, board) = (self.of(view), &view.boards[refused.board]);
        let scene = known.scenes[refused.board].get_or_init(|| Scene::in_view(view, refused.board));
        let question = Question {
            view,
            board,
            changes: &Changes::default(),
            request: refused.request,
            queued: Queued::First,
            planned: None,
            // Refusals must be fast.
            plans: false,
            caller,
        };
        let diagnosis = question.told(scene, &refused.demand, refused.by_count);
        let mut answers = known.answers.lock();
        if answers.len() < MOST {
            answers.insert(asking(caller, refusal), diagnosis.clone());
        }
        diagnosis
    }

    fn of(&self, view: &Arc<StateView>) -> Arc<Known> {
        let mut last = self.0.lock();
        // Record numbers do not identify states: they are reused after a failed write.
        if let Some(known) = last.as_ref().filter(|known| Arc::ptr_eq(&known.view, view)) {
            return known.clone();
        }
        let scenes = view.boards.iter().map(|_| OnceLock::new()).collect();
        let known = Arc::new(Known { view: view.clone(), scenes, answers: Mutex::default() });
        *last = Some(known.clone());
        known
    }
}

fn asking(caller: &Caller, RefusalInState { refused, .. }: &RefusalInState) -> Asking {
    (refused.board, refused.request, caller.tenant.clone())
}
