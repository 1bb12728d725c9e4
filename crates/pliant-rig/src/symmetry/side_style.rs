//! Spelling of sides in slider names: `eyeBlinkLeft`, `eyeBlink_L`, `left_eye_blink`.

use std::collections::BTreeMap;

use crate::names::{parts, spelled_like};
use crate::{Rig, Side};

/// The spelling of the side in the names of a rig.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SideStyle {
    /// Before the name rather than after it.
    before: bool,
    /// The text between the name and the side.
    separator: String,
    /// The spelling of the left side.
    left: String,
}

impl Default for SideStyle {
    /// `NAMELeft`, as ARKit has it.
    fn default() -> Self {
        Self {
            before: false,
            separator: String::new(),
            left: "Left".into(),
        }
    }
}

impl SideStyle {
    /// The most frequent style of the names, the first of several equally frequent ones; the
    /// default if no name has a side.
    #[must_use]
    pub fn of<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let styles: Vec<Self> = names.into_iter().filter_map(Self::of_name).collect();
        let mut counts: BTreeMap<Self, usize> = BTreeMap::new();
        for style in &styles {
            *counts.entry(style.clone()).or_default() += 1;
        }

        let mut best: Option<(usize, Self)> = None;
        for style in styles {
            let count = counts[&style];
            if best.as_ref().is_none_or(|(most, _)| count > *most) {
                best = Some((count, style));
            }
        }

        best.map(|(_, style)| style).unwrap_or_default()
    }

    /// The most frequent style of the sliders of a rig.
    #[must_use]
    pub fn of_rig(rig: &Rig) -> Self {
        Self::of(rig.targets().iter().map(|target| target.name.as_str()))
    }

    /// The name of one side of a slider.
    #[must_use]
    pub fn name(&self, name: &str, side: Side) -> String {
        let text = spelled_like(&self.left, side);
        if self.before {
            format!("{text}{}{name}", self.separator)
        } else {
            format!("{name}{}{text}", self.separator)
        }
    }

    fn of_name(name: &str) -> Option<Self> {
        let parts = parts(name);
        let index = parts.iter().position(|part| part.side.is_some())?;
        let before = index == 0 && parts.len() > 1 && parts[1].side.is_none();

        // A side in the middle, as in `eye-left-slit`, gives its separator and moves to the end.
        let first = if before { 0 } else { index.checked_sub(1)? };
        let separator = &name[parts[first].range.end..parts[first + 1].range.start];
        Some(Self {
            before,
            separator: separator.into(),
            left: spelled_like(&name[parts[index].range.clone()], Side::Left),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_names_use_the_side_style_of_their_rig() {
        let cases = [
            (vec!["eyeBlinkLeft", "jawOpen"], "smileLeft", "smileRight"),
            (vec!["eyeBlink_L", "eyeBlink_R"], "smile_L", "smile_R"),
            (vec!["blink.l"], "smile.l", "smile.r"),
            (
                vec!["left_blink", "right_blink", "jawLeft"],
                "left_smile",
                "right_smile",
            ),
            (vec!["eye-left-slit"], "smile-left", "smile-right"),
            (vec!["EYE_LEFT"], "smile_LEFT", "smile_RIGHT"),
            (vec!["jawOpen"], "smileLeft", "smileRight"),
        ];
        for (names, left, right) in cases {
            let style = SideStyle::of(names.iter().copied());
            assert_eq!(
                (
                    style.name("smile", Side::Left),
                    style.name("smile", Side::Right)
                ),
                (left.to_owned(), right.to_owned()),
                "{names:?}"
            );
        }
    }
}
