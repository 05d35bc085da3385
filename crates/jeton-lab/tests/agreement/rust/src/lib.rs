//! Nothing: the benchmark is in `benches/`.
