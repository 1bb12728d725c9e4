//! Reader of BVH (Biovision): the positions of the joints of a moving skeleton.
//!
//! **Format.** `HIERARCHY` nests joints with an `OFFSET` from their parent and a list of `CHANNELS`;
//! `MOTION` gives the values of the channels frame by frame, angles in degrees.
//!
//! **Equation.** `M_j = M_parent · T(offset + position channels) · R₁ R₂ R₃`, rotations in the
//! order of the channels.
//!
//! **Source.** Meredith, Maddock, "Motion capture file formats explained", 2001.
//!
//! **Departures.** Every joint is a marker that is always seen. The end of a limb is named after its
//! joint, as `hand_end`. The existing crates are unmaintained since 2019 or read channels only.

use pliant_mesh::glam::{DAffine3, DMat3, DVec3};

use super::MarkerFile;
use crate::ReadError;
use crate::parse::budget::Budget;
use crate::parse::text::{TextWords, excerpt, number};

/// One animated number of a joint.
#[derive(Debug, Clone, Copy)]
enum Channel {
    Position(usize),
    Rotation(usize),
}

#[derive(Debug)]
struct Joint {
    name: String,
    parent: Option<usize>,
    offset: DVec3,
    channels: Vec<Channel>,
}

impl Joint {
    /// A joint without offset and channels.
    fn at_origin(name: String, parent: Option<usize>) -> Self {
        Self {
            name,
            parent,
            offset: DVec3::ZERO,
            channels: Vec::new(),
        }
    }
}

/// Reads joints over time.
///
/// # Errors
/// Text that is not BVH, with the line; more frames than the file has numbers for.
pub fn read(bytes: &[u8]) -> Result<MarkerFile, ReadError> {
    let mut tokens = Tokens::of(bytes);
    tokens.expect("HIERARCHY")?;
    let budget = Budget::of_samples(bytes.len());
    let joints = read_hierarchy(&mut tokens, &budget)?;
    let [frames, frame_secs] = read_clock(&mut tokens)?;
    let channels: usize = joints.iter().map(|joint| joint.channels.len()).sum();

    if !(frame_secs > 0.0 && frames >= 0.0 && frames.fract() == 0.0) {
        return Err(tokens.wrong(format!(
            "{frames} frames of {frame_secs} seconds are not a valid motion; export it again"
        )));
    }

    // Each frame gives three numbers for each joint, whatever its channels.
    let frames = frames as usize;
    budget.spend(
        frames.saturating_mul(joints.len()).saturating_mul(3),
        "the motion",
    )?;

    let mut positions = Vec::with_capacity(frames);
    let mut values = vec![0.0; channels];
    for frame in 0..frames {
        for value in &mut values {
            *value = tokens.number(|| format!("frame {frame} of {frames}"))?;
        }
        let of_joints = joint_positions(&joints, &values);
        positions.push(of_joints.into_iter().map(Some).collect());
    }

    let names = joints.into_iter().map(|joint| joint.name).collect();
    MarkerFile::of(names, 0, Some(1.0 / frame_secs), positions)
}

/// The joints, parents before children.
fn read_hierarchy(tokens: &mut Tokens<'_>, budget: &Budget) -> Result<Vec<Joint>, ReadError> {
    let mut joints: Vec<Joint> = Vec::new();
    // The joints whose braces are open, from the root to the innermost.
    let mut open: Vec<usize> = Vec::new();

    loop {
        let word = tokens.word("a joint or MOTION")?;
        let innermost = open.last().copied();
        match (word.to_ascii_uppercase().as_slice(), innermost) {
            (b"ROOT" | b"JOINT", _) => {
                open.push(joints.len());
                joints.push(Joint::at_origin(tokens.name()?, innermost));
            }
            (b"END", Some(parent)) => {
                tokens.name()?; // "Site"
                let name = format!("{}_end", joints[parent].name);
                // Ends within ends have ever longer names.
                budget.spend_texts(&[&name], "the names of the ends")?;
                open.push(joints.len());
                joints.push(Joint::at_origin(name, innermost));
            }
            (b"OFFSET", Some(joint)) => {
                let mut next = || tokens.number(|| "an offset".into());
                joints[joint].offset = DVec3::new(next()?, next()?, next()?);
            }
            (b"CHANNELS", Some(joint)) => joints[joint].channels = tokens.channels()?,
            (b"}", Some(_)) => {
                open.pop();
            }
            (b"MOTION", None) if !joints.is_empty() => return Ok(joints),
            _ => {
                return Err(tokens.wrong(format!(
                    "'{}' is not expected here; export the file again",
                    excerpt(word)
                )));
            }
        }
    }
}

/// The number of frames and the seconds of each.
fn read_clock(tokens: &mut Tokens<'_>) -> Result<[f64; 2], ReadError> {
    tokens.expect("Frames:")?;
    let frames = tokens.number(|| "the number of frames".into())?;
    tokens.expect("Frame")?;
    tokens.expect("Time:")?;
    Ok([frames, tokens.number(|| "the time of a frame".into())?])
}

/// The positions of all joints for the channel values of one frame.
fn joint_positions(joints: &[Joint], values: &[f64]) -> Vec<DVec3> {
    let mut values = values.iter();
    let mut worlds: Vec<DAffine3> = Vec::with_capacity(joints.len());
    for joint in joints {
        let mut translation = joint.offset;
        let mut rotation = DMat3::IDENTITY;
        for (channel, &value) in joint.channels.iter().zip(values.by_ref()) {
            match *channel {
                Channel::Position(axis) => translation[axis] += value,
                Channel::Rotation(axis) => {
                    rotation *= DMat3::from_axis_angle(DVec3::AXES[axis], value.to_radians())
                }
            }
        }

        // Parents come before their children.
        let parent = joint
            .parent
            .map_or(DAffine3::IDENTITY, |parent| worlds[parent]);
        worlds.push(parent * DAffine3::from_mat3_translation(rotation, translation));
    }

    worlds.iter().map(|world| world.translation).collect()
}

/// The words of the file with their lines.
struct Tokens<'a> {
    words: TextWords<'a>,
}

impl<'a> Tokens<'a> {
    fn of(bytes: &'a [u8]) -> Self {
        Self {
            words: TextWords::of(bytes),
        }
    }

    fn wrong(&self, message: String) -> ReadError {
        ReadError::line(self.words.line, message)
    }

    fn word(&mut self, what: &str) -> Result<&'a [u8], ReadError> {
        self.words.next().ok_or_else(|| {
            self.wrong(format!(
                "the file ends where {what} is expected; export it again"
            ))
        })
    }

    fn expect(&mut self, keyword: &str) -> Result<(), ReadError> {
        let word = self.word(keyword)?;
        if word.eq_ignore_ascii_case(keyword.as_bytes()) {
            return Ok(());
        }
        Err(self.wrong(format!(
            "expected {keyword}, found '{}'; this is not a BVH file",
            excerpt(word)
        )))
    }

    /// The text before the next brace.
    fn name(&mut self) -> Result<String, ReadError> {
        let mut name = String::new();
        loop {
            let word = self.word("a brace after the name of a joint")?;
            if word == b"{" {
                return Ok(name);
            }

            let gap = if name.is_empty() { "" } else { " " };
            name = format!("{name}{gap}{}", String::from_utf8_lossy(word));
            if name.len() > 1000 {
                return Err(self.wrong(
                    "a name has more than 1000 bytes without a brace; export the file again".into(),
                ));
            }
        }
    }

    fn number(&mut self, what: impl FnOnce() -> String) -> Result<f64, ReadError> {
        let Some(word) = self.words.next() else {
            return Err(self.wrong(format!(
                "the file ends in {}; it is cut off, export it again",
                what()
            )));
        };

        let finite = number(word).filter(|value| value.is_finite());
        finite.ok_or_else(|| {
            self.wrong(format!(
                "'{}' in {} is not a finite number",
                excerpt(word),
                what()
            ))
        })
    }

    fn channels(&mut self) -> Result<Vec<Channel>, ReadError> {
        let count = self.number(|| "the number of channels".into())?;
        if !(0.0..=6.0).contains(&count) {
            return Err(self.wrong(format!(
                "a joint cannot have {count} channels, only 0 to 6; export the file again"
            )));
        }
        (0..count as usize).map(|_| self.channel()).collect()
    }

    fn channel(&mut self) -> Result<Channel, ReadError> {
        let word = self.word("a channel")?;
        let lower = word.to_ascii_lowercase();
        let axis = lower
            .first()
            .and_then(|letter| b"xyz".iter().position(|known| known == letter));

        match (axis, lower.get(1..)) {
            (Some(axis), Some(b"position")) => Ok(Channel::Position(axis)),
            (Some(axis), Some(b"rotation")) => Ok(Channel::Rotation(axis)),
            _ => Err(self.wrong(format!(
                "'{}' is not a channel; channels are Xposition, Xrotation and so on",
                excerpt(word)
            ))),
        }
    }
}
