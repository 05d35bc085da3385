//! Drivers: search, manifests, runtimes and builds.

mod build;
mod equip;
mod first_line;
mod manifest;
mod recipe;
pub mod runtime;
mod search;
mod toolchain;
mod workspace;

pub use build::{Answer, Built, Cache, Unbuilt};
pub use equip::{Equipped, Runtimes, equip, one_of_each, runtimes_used};
pub use manifest::{Driver, Manifest, Offer};
pub use recipe::Recipe;
pub use search::{SearchError, find, folder, manifests};
pub use toolchain::{Tool, toolchains};
pub use workspace::workspace;
