//! Packets of Live Link Face.
//!
//! **Format.** All numbers are big-endian: the version (one byte, 6), the device and the subject
//! (each a length of four bytes and that many bytes), the frame (`i32`), its fraction (`f32`), the
//! rate as numerator and denominator (two `i32`), the number of values (one byte), and the values
//! (`f32`) in the order of [`LIVE_LINK_CHANNELS`].
//!
//! **Source.** The layout is that of Unreal Engine's ARKit face source, as the open libraries
//! PyLiveLinkFace and LLV describe it. The order of the values differs from that of the app's CSV:
//! here `JawLeft` precedes `JawRight`, and `MouthLeft` precedes `MouthRight`.

use super::LivePacket;

/// The channels of a packet in their order.
#[rustfmt::skip]
pub const LIVE_LINK_CHANNELS: [&str; 61] = [
    "EyeBlinkLeft", "EyeLookDownLeft", "EyeLookInLeft", "EyeLookOutLeft", "EyeLookUpLeft", "EyeSquintLeft", "EyeWideLeft",
    "EyeBlinkRight", "EyeLookDownRight", "EyeLookInRight", "EyeLookOutRight", "EyeLookUpRight", "EyeSquintRight", "EyeWideRight",
    "JawForward", "JawLeft", "JawRight", "JawOpen", "MouthClose", "MouthFunnel", "MouthPucker", "MouthLeft", "MouthRight",
    "MouthSmileLeft", "MouthSmileRight", "MouthFrownLeft", "MouthFrownRight", "MouthDimpleLeft", "MouthDimpleRight",
    "MouthStretchLeft", "MouthStretchRight", "MouthRollLower", "MouthRollUpper", "MouthShrugLower", "MouthShrugUpper",
    "MouthPressLeft", "MouthPressRight", "MouthLowerDownLeft", "MouthLowerDownRight", "MouthUpperUpLeft", "MouthUpperUpRight",
    "BrowDownLeft", "BrowDownRight", "BrowInnerUp", "BrowOuterUpLeft", "BrowOuterUpRight", "CheekPuff", "CheekSquintLeft",
    "CheekSquintRight", "NoseSneerLeft", "NoseSneerRight", "TongueOut", "HeadYaw", "HeadPitch", "HeadRoll", "LeftEyeYaw",
    "LeftEyePitch", "LeftEyeRoll", "RightEyeYaw", "RightEyePitch", "RightEyeRoll",
];

/// The longest name of a device or a subject.
const LONGEST_NAME: usize = 256;

/// Reads a packet; `None` for other bytes.
#[must_use]
pub fn read_live_link(bytes: &[u8]) -> Option<LivePacket> {
    let mut rest = bytes;
    let [version] = take(&mut rest)?;
    if version != 6 {
        return None;
    }

    let _device = take_name(&mut rest)?;
    let subject = take_name(&mut rest)?;
    let frame = i32::from_be_bytes(take(&mut rest)?);
    let fraction = f32::from_be_bytes(take(&mut rest)?);
    let numerator = i32::from_be_bytes(take(&mut rest)?);
    let denominator = i32::from_be_bytes(take(&mut rest)?);
    let [count] = take(&mut rest)?;

    let count = usize::from(count);
    if count > LIVE_LINK_CHANNELS.len() || rest.len() != 4 * count {
        return None;
    }
    let mut values = Vec::with_capacity(count);
    for name in &LIVE_LINK_CHANNELS[..count] {
        let value = f32::from_be_bytes(take(&mut rest)?);
        values.push(((*name).to_owned(), f64::from(value)));
    }

    let rate = f64::from(numerator) / f64::from(denominator);
    let time = (f64::from(frame) + f64::from(fraction)) / rate;
    let is_time = numerator > 0 && denominator > 0 && time.is_finite();
    Some(LivePacket {
        subject,
        time_secs: is_time.then_some(time),
        values,
        ends_frame: true,
    })
}

/// Writes a packet of the channels in [`LIVE_LINK_CHANNELS`]; a missing channel is zero.
#[must_use]
pub fn encode_live_link(
    subject: &str,
    frame: i32,
    frames_per_second: i32,
    value_of: impl Fn(&str) -> f32,
) -> Vec<u8> {
    const DEVICE: &str = "00000000-0000-0000-0000-000000000000";
    let mut bytes = vec![6];
    for name in [DEVICE, subject] {
        let name = &name.as_bytes()[..name.len().min(LONGEST_NAME)];
        bytes.extend((name.len() as u32).to_be_bytes());
        bytes.extend(name);
    }
    bytes.extend(frame.to_be_bytes());
    bytes.extend(0.0_f32.to_be_bytes());
    bytes.extend(frames_per_second.to_be_bytes());
    bytes.extend(1_i32.to_be_bytes());
    bytes.push(LIVE_LINK_CHANNELS.len() as u8);
    for name in LIVE_LINK_CHANNELS {
        bytes.extend(value_of(name).to_be_bytes());
    }
    bytes
}

fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (first, after) = rest.split_first_chunk::<N>()?;
    *rest = after;
    Some(*first)
}

fn take_name(rest: &mut &[u8]) -> Option<String> {
    let length = u32::from_be_bytes(take(rest)?) as usize;
    if length > LONGEST_NAME || length > rest.len() {
        return None;
    }
    let (name, after) = rest.split_at(length);
    *rest = after;
    let text = std::str::from_utf8(name).ok()?;
    Some(text.trim_end_matches('\0').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_written_packet_is_read_and_a_damaged_one_is_declined() {
        let bytes = encode_live_link(
            "phone",
            90,
            60,
            |name| if name == "JawOpen" { 0.5 } else { 0.0 },
        );
        let packet = read_live_link(&bytes).unwrap();
        assert_eq!(packet.subject, "phone");
        assert_eq!(packet.time_secs, Some(1.5));
        assert_eq!(packet.values.len(), 61);
        assert!(packet.values.contains(&("JawOpen".into(), 0.5)));

        for length in 0..bytes.len() {
            assert_eq!(read_live_link(&bytes[..length]), None, "{length}");
        }
        let mut longer = bytes.clone();
        longer.push(0);
        assert_eq!(read_live_link(&longer), None);
        let mut huge = bytes;
        huge[1..5].copy_from_slice(&u32::MAX.to_be_bytes());
        assert_eq!(read_live_link(&huge), None);
    }
}
