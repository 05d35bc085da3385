//! Drivers: search, manifests, runtimes and builds.

mod build;
mod manifest;
pub mod runtime;
mod search;
mod toolchain;

pub use build::{Answer, Built, Cache, Recipe, Unbuilt};
pub use manifest::{Driver, Manifest, Offer};
pub use search::{SearchError, find, folder, manifests, workspace};
pub use toolchain::{Tool, toolchains};
