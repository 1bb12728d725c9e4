//! Large binary results (takes, models), stored beside the project and named by their content.
//!
//! In the text of the project a blob is its name; its bytes are a file of that name (see
//! [`project`](crate::model::project)). Bytes never change, so a save writes only blobs that do not
//! exist yet.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Bytes under the name of their content.
#[derive(Clone)]
pub struct Blob {
    name: String,
    bytes: Arc<[u8]>,
}

impl Blob {
    /// Names `bytes` by their content, with `ending` (such as `npy`) for the file.
    #[must_use]
    pub fn new(bytes: Vec<u8>, ending: &str) -> Self {
        Self {
            name: format!("{:032x}.{ending}", fingerprint(&bytes)),
            bytes: bytes.into(),
        }
    }

    /// The name of its file.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The bytes; empty where a project's text was read but not yet the file beside it.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Whether a file's name is one that [`new`](Self::new) gives.
    #[must_use]
    pub fn is_name(name: &str) -> bool {
        name.split_once('.').is_some_and(|(stem, _)| {
            stem.len() == 32 && stem.bytes().all(|byte| byte.is_ascii_hexdigit())
        })
    }

    /// Takes the bytes that belong to the name; says `false`, and takes nothing, if they do not.
    #[must_use]
    pub fn fill(&mut self, bytes: Vec<u8>) -> bool {
        let stem = self.name.split('.').next().unwrap_or_default();
        let fits = stem == format!("{:032x}", fingerprint(&bytes));
        if fits {
            self.bytes = bytes.into();
        }
        fits
    }
}

/// FNV-1a in 128 bits: names differ for any two results that the user will ever make, and come out
/// equal on every machine.
pub(crate) fn fingerprint(bytes: &[u8]) -> u128 {
    const OFFSET: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    bytes.iter().fold(OFFSET, |hash, byte| {
        (hash ^ u128::from(*byte)).wrapping_mul(PRIME)
    })
}

impl PartialEq for Blob {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl fmt::Debug for Blob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Blob({}, {} bytes)", self.name, self.bytes.len())
    }
}

impl Serialize for Blob {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.name.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Blob {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        // A name is a file beside the project and nothing else: a foreign project must not reach
        // elsewhere.
        if !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '.') || name.starts_with('.') {
            return Err(serde::de::Error::custom(format!(
                "'{name}' is not a valid name of a result file"
            )));
        }

        Ok(Self {
            name,
            bytes: Arc::from([]),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blob_accepts_only_bytes_that_match_its_name() {
        let blob = Blob::new(b"frames".to_vec(), "npy");
        let mut read: Blob = serde_json::from_str(&serde_json::to_string(&blob).unwrap()).unwrap();
        assert!(read == blob && read.bytes().is_empty());
        assert!(!read.fill(b"other".to_vec()) && read.bytes().is_empty());
        assert!(read.fill(b"frames".to_vec()));
        assert_eq!(read.bytes(), b"frames");
    }

    #[test]
    fn a_blob_name_with_a_path_is_rejected() {
        for name in ["../secret", "/etc/passwd", ".hidden", "a\\b"] {
            assert!(
                serde_json::from_value::<Blob>(name.into()).is_err(),
                "{name}"
            );
        }
    }
}
