//! The jeton command.
fn main() {}
