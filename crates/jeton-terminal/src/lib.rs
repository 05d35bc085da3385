//! What the programs `jeton` and `jeton-lab` share of the terminal: arguments, input, output and exit codes.

pub mod args;
pub mod escape;
pub mod exit;
pub mod input;
pub mod json;
pub mod manual;
pub mod output;
pub mod redact;
pub mod shell;
pub mod source;
pub mod time;
pub mod width;
