//! Untrusted input and files: within memory and time, and escaped when shown.

mod confined;
mod files;
mod hostile;
mod input;
mod shown;
