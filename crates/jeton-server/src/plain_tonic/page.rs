//! Compares the page with the data.
