//! How a rig writes left and right: `eyeBlinkLeft`, `eyeBlink_L`, `left_eye_blink`.

use std::collections::BTreeMap;

use super::slider_name::{parts, spelled_like};
use crate::{Rig, Side};

/// A way to write the side into a name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SideStyle {
    /// Before the name rather than after it.
    before: bool,
    /// What stands between the name and the side.
    separator: String,
    /// How the left side is written.
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
    /// The style of most of the names, of the first of several that are as frequent; the default
    /// where no name has a side.
    #[must_use]
    pub fn of<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let mut counts: BTreeMap<Self, usize> = BTreeMap::new();
        let mut best: Option<(usize, Self)> = None;
        let styles: Vec<Self> = names.into_iter().filter_map(Self::of_name).collect();
        styles
            .iter()
            .for_each(|style| *counts.entry(style.clone()).or_default() += 1);
        for style in styles {
            let count = counts[&style];
            if best.as_ref().is_none_or(|(most, _)| count > *most) {
                best = Some((count, style));
            }
        }
        best.map(|(_, style)| style).unwrap_or_default()
    }

    /// The style of most of a rig's sliders.
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
        let place = parts.iter().position(|part| part.side.is_some())?;
        let style = |before, separator: &str| {
            let left = spelled_like(&name[parts[place].range.clone()], Side::Left);
            Some(Self {
                before,
                separator: separator.into(),
                left,
            })
        };
        if place == 0 && parts.len() > 1 && parts[1].side.is_none() {
            return style(true, &name[parts[0].range.end..parts[1].range.start]);
        }
        // A side in the middle, as in `eye-left-slit`, gives its separator and goes to the end.
        let before = place.checked_sub(1)?;
        style(
            false,
            &name[parts[before].range.end..parts[place].range.start],
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_written_as_its_rig_writes() {
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
