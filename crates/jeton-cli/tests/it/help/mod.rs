//! Help, manual pages and hints.

mod hints;
mod manual;
mod provoked;
mod text;
