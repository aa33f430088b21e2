//! Refusals, with what stands in the way.

use super::{App, Fault};
use crate::core::{Caller, Problem, Reason, Reply};
use crate::diagnose::{self, Asked, Changes};
use crate::writer::RefusalInState;

/// A refusal with what stands in the way.
pub(crate) async fn diagnosed(
    app: &App,
    caller: &Caller,
    RefusalInState { refused, view }: RefusalInState,
) -> Result<Reply, Fault> {
    let (seen_by, seed) = (caller.clone(), app.seed);
    let work = move || {
        let board = &view.boards[refused.board];
        let changes = Changes::default();
        let state = diagnose::state(&view, board, &changes);
        let asked = Asked::on(board, &board.spec.strategy, refused.request, seed)?;
        Ok(diagnose::diagnosis(&view, board, &state, &changes, &asked, false, &seen_by))
    };
    let diagnosis = app.turns.run(caller, work).await?;
    let diagnosis = diagnosis.map_err(|reason: String| Fault::internal(&reason))?;
    let meaning = refused.refusal.meaning();
    let problem = Problem::new(Reason::Refused(refused.refusal), meaning);
    Ok(problem.with("diagnosis", diagnosis).reply())
}
