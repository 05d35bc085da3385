//! PASETO and its keys.

mod attacks;
mod round_trip;
