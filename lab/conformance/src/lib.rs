//! Tests what libraries must accept and what they must reject; without timing.
//!
//! [`attack`] creates tokens and keys that must be rejected, for drivers and for live endpoints. [`interop`] lets
//! every driver verify every other's tokens.

pub mod attack;
pub mod interop;
