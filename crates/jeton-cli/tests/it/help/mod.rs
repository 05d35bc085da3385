//! Help, manual pages and hints.

mod hints;
mod manual;
mod text;
