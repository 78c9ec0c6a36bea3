//! Ready-made monitors, each usable with any actor (PAM-L4).
//!
//! | monitor | what may overlap |
//! |---|---|
//! | [`Mutex`] | nothing |
//! | [`ReadersWriter`], [`ReadersFirst`], [`WritersFirst`] | readers |
//! | [`Resources`], [`Philosophers`] | letters that need different objects |
//! | [`Synchronizer`], [`CollectiveBound`] | what declared rules allow |
//! | [`Join`] | two letters, once both have come |
//!
//! They are written with the same operations that any monitor has, and each is as short as its rule: to have another
//! rule, read one of them and write your own. A monitor that has to tell letters apart by more than `&self` and
//! `&mut self` takes its labels as type parameters, with ready-made ones as defaults: tag the actor's methods with their
//! `CATEGORY`, or put any [`Filter`] in their place.

mod join;
mod mutex;
mod readers_writer;
mod resources;
mod synchronizer;

pub use join::{Join, JoinLeft, JoinRight};
pub use mutex::Mutex;
pub use readers_writer::{ReadersFirst, ReadersWriter, WritersFirst};
pub use resources::{Philosophers, Resources};
pub use synchronizer::{Bound, CollectiveBound, Release, Request, RuleBook, Rules, Synchronizer, When};

use crate::inbox::Filter;

/// A filter that is named by its type, so that it can be a monitor's parameter. Every filter with a default is one.
pub trait Pattern: Filter + Default + Send + 'static {}

impl<F: Filter + Default + Send + 'static> Pattern for F {}

/// Declares a pattern that passes the methods tagged with its own category.
macro_rules! label {
    ($(#[$doc:meta])* $label:ident = $name:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default)]
        #[cfg_attr(feature = "defmt", derive(defmt::Format))]
        pub struct $label;

        impl $label {
            /// The category to tag methods with.
            pub const CATEGORY: &'static $crate::Category = {
                // A static, because its address is its identity.
                static CATEGORY: $crate::Category = $crate::Category::new($name);
                &CATEGORY
            };
        }

        impl $crate::Filter for $label {
            fn pass(&self, letter: &$crate::Letter<'_>) -> bool {
                letter.category() == Some(Self::CATEGORY)
            }
        }
    };
}
use label;
