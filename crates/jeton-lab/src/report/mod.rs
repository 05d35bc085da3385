//! Reports: pure functions of one [`RunResult`](crate::result::RunResult).

pub mod html;
