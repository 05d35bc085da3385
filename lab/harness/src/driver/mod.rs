//! Drivers: search, manifests, runtimes and builds.

mod build;
mod build_event;
mod equip;
mod first_line;
mod manifest;
mod recipe;
pub mod runtime;
mod search;
mod toolchain;

pub use crate::workspace::workspace;
pub use build::{Answer, Built, Cache, Unbuilt};
pub use build_event::BuildEvent;
pub use equip::{Equipped, Runtimes, equip, one_of_each, runtimes_used};
pub use manifest::{Driver, Manifest, Offer};
pub use recipe::Recipe;
pub use search::{Search, find, folder};
pub use toolchain::{Tool, toolchains};
