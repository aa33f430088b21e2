//! placeholder
use crate::args::TraceArgs;
use crate::fault::Fault;
pub(crate) fn run(_: &TraceArgs) -> Result<(), Fault> {
    Ok(())
}
