//! Numbers of a file that are NaN or infinite.
//!
//! **Problem.** A reader cannot use such a number: it takes the identity for a rotation of NaN, or
//! leaves out the key of a curve. What it then reads looks sound, and the damage spreads unseen.
//!
//! **Method.** A reader may replace such a number if it notes the place. The places go into the asset;
//! [`Asset::require_finite`](crate::Asset::require_finite) refuses an asset with any, and reports list them.

use std::cell::RefCell;
use std::fmt::Display;

/// Where numbers of a file are not finite.
#[derive(Debug, Default)]
pub(crate) struct NotFinite {
    places: RefCell<Vec<String>>,
}

impl NotFinite {
    /// Chosen: further places would make no report clearer.
    pub(crate) const MOST_PLACES: usize = 20;

    /// Notes that `place` holds a number that is not finite.
    pub(crate) fn note(&self, place: impl Display) {
        let mut places = self.places.borrow_mut();
        if places.len() < Self::MOST_PLACES {
            places.push(message(place));
        }
    }

    /// Notes `place` if one of its numbers is not finite.
    pub(crate) fn check(&self, numbers: impl IntoIterator<Item = f64>, place: impl Display) {
        if numbers.into_iter().any(|number| !number.is_finite()) {
            self.note(place);
        }
    }

    /// A sentence for each place.
    pub(crate) fn into_messages(self) -> Vec<String> {
        self.places.into_inner()
    }
}

/// The sentence about one place.
pub(crate) fn message(place: impl Display) -> String {
    format!("{place} holds a number that is not finite; repair the file")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_places_with_nan_or_infinity_are_noted_and_at_most_twenty() {
        let found = NotFinite::default();
        found.check([0.0, -1e300], "a sound list");
        assert!(found.places.borrow().is_empty());
        for k in 0..30 {
            found.check([0.0, [f64::NAN, f64::INFINITY][k % 2]], format!("list {k}"));
        }
        let messages = found.into_messages();
        assert_eq!(messages.len(), NotFinite::MOST_PLACES);
        assert!(messages[0].starts_with("list 0 holds a number that is not finite"));
    }
}
