//! Claims as text, and claims with registered fields.

mod json;
mod shape;
mod with_registered;
