//! placeholder
use crate::args::LogArgs;
use crate::fault::Fault;
use pavior_experiments::Source;
use pavior_mesh::Grid;
use std::path::Path;
pub(crate) fn source(_: &Path, _: &LogArgs, _: Grid) -> Result<Box<dyn Source>, Fault> {
    Err(Fault::usage("soon"))
}
