//! Nodes: on a shared store, with different clocks, and with failures.

mod bounds;
mod clocks;
mod committed_late;
mod comparison;
mod copied_folder;
mod cut_off;
mod full_disk;
mod loading;
mod node_records;
mod random_losses;
mod shared_store;
mod went_back;
