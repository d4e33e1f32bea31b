//! Congestion-control schemes, one file each, and the registry that lists them.

pub mod param;

use param::{ParamValues, SchemeSpec};

/// Every scheme, in the order they are listed to people.
pub fn all() -> &'static [&'static SchemeSpec] {
    &[]
}

/// The specification of a scheme by name.
pub fn find(name: &str) -> Option<&'static SchemeSpec> {
    all().iter().copied().find(|spec| spec.name == name)
}

/// Any one scheme, configured.
pub struct Any;

impl Any {
    pub fn configure(_values: &ParamValues) -> Any {
        Any
    }
}
