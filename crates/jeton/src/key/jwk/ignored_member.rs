use std::fmt;

/// A member of a JWK that is there but counts as absent.
/// [`AnyKey::ignored_members`](crate::key::AnyKey::ignored_members) returns them. `Display` writes a note with the name
/// and the reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IgnoredMember {
    name: &'static str,
    is_null: bool,
}

impl IgnoredMember {
    pub(crate) fn new(name: &'static str, is_null: bool) -> IgnoredMember {
        IgnoredMember { name, is_null }
    }

    /// Returns the name of the member.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Returns whether the member is null. Else it is malformed.
    pub fn is_null(&self) -> bool {
        self.is_null
    }
}

impl fmt::Display for IgnoredMember {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reason = if self.is_null { "null" } else { "malformed" };
        write!(f, "`{}` is {reason}: ignored", self.name)
    }
}
