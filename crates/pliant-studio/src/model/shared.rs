//! Shared arrays that are cheap to copy and to compare.
//!
//! A step of the history is a whole document, and every edit compares documents: shared data must
//! cost nothing to copy, and nothing to compare with itself. An [`Arc`] of numbers compares all of
//! them.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// An [`Arc`] that equals itself at once. Whoever changes it changes a copy of their own, where
/// others hold it, too.
#[derive(Debug, Default)]
pub struct Shared<T>(Arc<T>);

impl<T> Shared<T> {
    /// Whether both are one and the same thing.
    #[must_use]
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T: PartialEq> PartialEq for Shared<T> {
    fn eq(&self, other: &Self) -> bool {
        self.is(other) || self.0 == other.0
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Clone> DerefMut for Shared<T> {
    fn deref_mut(&mut self) -> &mut T {
        Arc::make_mut(&mut self.0)
    }
}

impl<T> From<T> for Shared<T> {
    fn from(value: T) -> Self {
        Self(Arc::new(value))
    }
}

impl<A, T: FromIterator<A>> FromIterator<A> for Shared<T> {
    fn from_iter<I: IntoIterator<Item = A>>(items: I) -> Self {
        T::from_iter(items).into()
    }
}

impl<'a, T> IntoIterator for &'a Shared<T>
where
    &'a T: IntoIterator,
{
    type Item = <&'a T as IntoIterator>::Item;
    type IntoIter = <&'a T as IntoIterator>::IntoIter;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<T: Serialize> Serialize for Shared<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(serializer)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Shared<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::deserialize(deserializer).map(Self::from)
    }
}

/// `#[serde(with = "shared")]`: writes the value in an [`Arc`].
pub fn serialize<T: Serialize, S: Serializer>(
    shared: &Arc<T>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    (**shared).serialize(serializer)
}

/// Reads a value into an [`Arc`].
pub fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Arc<T>, D::Error> {
    T::deserialize(deserializer).map(Arc::new)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A number that must not be compared.
    #[derive(Debug, Clone)]
    struct Untouchable;

    impl PartialEq for Untouchable {
        fn eq(&self, _: &Self) -> bool {
            panic!("compared although it is the same")
        }
    }

    #[test]
    fn a_shared_value_equals_itself_without_comparison() {
        let thing = Shared::from(vec![Untouchable; 3]);
        assert!(thing == thing.clone());
    }

    #[test]
    fn a_change_copies_only_if_the_value_is_shared() {
        let mut mine = Shared::from(vec![1, 2]);
        let theirs = mine.clone();
        mine.push(3);
        assert_eq!((&*mine, &*theirs), (&vec![1, 2, 3], &vec![1, 2]));
        let place = mine.as_ptr();
        mine[0] = 7;
        assert_eq!(mine.as_ptr(), place);
    }
}
