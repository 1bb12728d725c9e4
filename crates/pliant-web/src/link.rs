//! The state that an address asks for: `#asset=specimen:hand&room=learn`.

/// The parts of a link that the page knows; other parts are ignored.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Link {
    /// The asset to open.
    pub asset: Option<String>,
    /// The name of the room to open, in small letters.
    pub room: Option<String>,
    /// Whether the page tells its labels, for tests.
    pub labels: bool,
}

impl Link {
    /// Reads the part of an address after its `#`.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let mut link = Self::default();
        for part in text.trim_start_matches('#').split('&') {
            let Some((name, value)) = part.split_once('=') else {
                continue;
            };
            let value = Some(decoded(value)).filter(|value| !value.is_empty());
            match name {
                "asset" => link.asset = value,
                "room" => link.room = value.map(|room| room.to_lowercase()),
                "labels" => link.labels = value.is_some(),
                _ => {}
            }
        }
        link
    }
}

/// Decodes `%41` to `A`; broken escapes stay as they are.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let digits = after.get(..2).and_then(|two| std::str::from_utf8(two).ok());
        let code = digits.and_then(|two| u8::from_str_radix(two, 16).ok());
        match code.filter(|_| byte == b'%') {
            Some(code) => {
                bytes.push(code);
                rest = &after[2..];
            }
            None => {
                bytes.push(byte);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_names_an_asset_and_a_room() {
        let link = Link::parse("#asset=specimen:hand&room=Learn");
        assert_eq!(link.asset.as_deref(), Some("specimen:hand"));
        assert_eq!(link.room.as_deref(), Some("learn"));
    }

    #[test]
    fn escapes_are_decoded_and_wild_text_is_no_error() {
        let link = Link::parse("asset=%2Ffiles%2Fmy%20head.glb&x&room=");
        assert_eq!(link.asset.as_deref(), Some("/files/my head.glb"));
        assert_eq!(link.room, None);
        assert_eq!(
            Link::parse("#%&=%zz&asset=%é"),
            Link {
                asset: Some("%é".into()),
                ..Link::default()
            }
        );
        assert_eq!(Link::parse(""), Link::default());
    }
}
