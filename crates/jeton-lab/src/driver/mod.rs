//! The lab's subjects at home: which drivers there are, what they say they offer, what they run on,
//! and how they are built.

mod build;
mod manifest;
pub mod runtime;
mod search;
mod toolchain;

pub use build::{Answer, Built, Cache, Recipe, Unbuilt};
pub(crate) use manifest::RUNTIME_MARK;
pub use manifest::{Driver, Manifest, Offer};
pub use search::{SearchError, find, folder};
pub(crate) use search::{manifests, workspace};
pub use toolchain::{Tool, toolchains};
