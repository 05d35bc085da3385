//! jeton
