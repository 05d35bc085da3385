//! JWS: signed bytes.

mod attacks;
mod round_trip;
