//! Runs with drivers that misbehave.

mod cheats;
mod fake;
mod misdeeds;
