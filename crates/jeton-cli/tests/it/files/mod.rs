//! Arguments that name files.

mod bad;
mod names;
