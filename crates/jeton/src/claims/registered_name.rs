use crate::error::Claim;
use crate::json::Text;

/// Finds a registered claim by its exact name, whether or not the name has escapes.
pub(super) fn registered_name(name: Text<'_>) -> Option<Claim> {
    if !name.has_escapes() {
        Claim::of_name(name.written_bytes())
    } else {
        Claim::from_name(&name.to_cow())
    }
}
