//! The lab's subjects at home: which drivers there are, what they say they offer, and how they
//! are built.

mod build;
mod manifest;
mod search;
mod toolchain;

pub use build::{Answer, Built, Cache, Unbuilt};
pub use manifest::{Driver, Manifest, Offer};
pub use search::{SearchError, find, folder};
pub use toolchain::{Tool, toolchains};
