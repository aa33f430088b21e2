//! Refusals, with what stands in the way.

use super::{App, Fault};
use crate::core::{Caller, Problem, Reason, Reply};
use crate::diagnose::{self, Changes};
use crate::writer::RefusalInState;

/// A refusal with what stands in the way.
pub(crate) async fn diagnosed(
    app: &App,
    caller: &Caller,
    RefusalInState { refused, view }: RefusalInState,
) -> Result<Reply, Fault> {
    let seen_by = caller.clone();
    let work = move || {
        let board = &view.boards[refused.board];
        let state = diagnose::state(&view, board, &Changes::default());
        diagnose::diagnosis(&view, board, &state, refused.shape, &seen_by)
    };
    let diagnosis = app.turns.run(caller, work).await?;
    let meaning = refused.refusal.meaning();
    let problem = Problem::new(Reason::Refused(refused.refusal), meaning);
    Ok(problem.with("diagnosis", diagnosis).reply())
}
