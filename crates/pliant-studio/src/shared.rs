//! `#[serde(with = "shared")]`: what sits behind an [`Arc`] is written as itself.

use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Writes what is behind the [`Arc`].
pub fn serialize<T: Serialize, S: Serializer>(shared: &Arc<T>, serializer: S) -> Result<S::Ok, S::Error> {
    (**shared).serialize(serializer)
}

/// Puts what it reads behind an [`Arc`].
pub fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<Arc<T>, D::Error> {
    T::deserialize(deserializer).map(Arc::new)
}
