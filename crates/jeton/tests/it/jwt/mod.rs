//! JWT: claims, signed.

mod series;
