//! OSC messages and bundles, and the blend values of the VMC protocol in them.
//!
//! **Format.** A message is an address (a text), a text of types that begins with a comma, and the
//! arguments; a bundle is `#bundle`, eight bytes of time, and elements with their lengths. Texts end
//! with zeros up to a multiple of four bytes; numbers are big-endian. VMC sends
//! `/VMC/Ext/Blend/Val (name, value)` for each shape, then `/VMC/Ext/Blend/Apply`; `/VMC/Ext/T
//! (seconds)` is the clock, `/VMC/Ext/Bone/Pos (name, position, quaternion)` a bone, of which the
//! head and the eyes are read.
//!
//! **Sources.** Wright, "The Open Sound Control 1.0 specification", 2002; the VMC protocol
//! specification (protocol.vmc.info).
//!
//! **Departures.** Bundles nest at most four deep. Arguments of other types are skipped. Bones are
//! in Unity's left-handed axes, in which a positive roll leans to the left shoulder; the sign of the
//! roll is changed.

use pliant_mesh::glam::{DQuat, EulerRot};

use super::LivePacket;

/// The deepest nesting of bundles.
const DEEPEST: usize = 4;

/// An argument of a message.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Argument<'a> {
    Number(f64),
    Text(&'a str),
}

/// Reads the blend values of a packet; `None` for bytes that are no OSC.
#[must_use]
pub fn read_vmc(bytes: &[u8]) -> Option<LivePacket> {
    let mut packet = LivePacket::default();
    read_element(bytes, 0, &mut packet)?;
    Some(packet)
}

fn read_element(bytes: &[u8], depth: usize, packet: &mut LivePacket) -> Option<()> {
    let Some(mut rest) = bytes.strip_prefix(b"#bundle\0") else {
        return read_message(bytes, packet);
    };
    if depth == DEEPEST {
        return None;
    }
    let _time = take(&mut rest, 8)?;
    while !rest.is_empty() {
        let length = u32::from_be_bytes(take(&mut rest, 4)?.try_into().ok()?);
        let element = take(&mut rest, length as usize)?;
        read_element(element, depth + 1, packet)?;
    }
    Some(())
}

fn read_message(bytes: &[u8], packet: &mut LivePacket) -> Option<()> {
    let mut rest = bytes;
    let address = take_text(&mut rest)?;
    if !address.starts_with('/') {
        return None;
    }
    let types = take_text(&mut rest)?.strip_prefix(',')?;

    let mut arguments = Vec::new();
    for kind in types.bytes() {
        let argument = match kind {
            b'f' => Argument::Number(f64::from(f32::from_be_bytes(
                take(&mut rest, 4)?.try_into().ok()?,
            ))),
            b'd' => Argument::Number(f64::from_be_bytes(take(&mut rest, 8)?.try_into().ok()?)),
            b'i' => Argument::Number(f64::from(i32::from_be_bytes(
                take(&mut rest, 4)?.try_into().ok()?,
            ))),
            b's' | b'S' => Argument::Text(take_text(&mut rest)?),
            b'T' => Argument::Number(1.0),
            b'F' => Argument::Number(0.0),
            _ => {
                skip(kind, &mut rest)?;
                continue;
            }
        };
        arguments.push(argument);
    }

    match (address, arguments.as_slice()) {
        ("/VMC/Ext/Blend/Val", [Argument::Text(name), Argument::Number(value)]) => {
            packet.values.push(((*name).to_owned(), *value));
        }
        ("/VMC/Ext/Blend/Apply", _) => packet.ends_frame = true,
        ("/VMC/Ext/T", [Argument::Number(secs)]) => packet.time_secs = Some(*secs),
        ("/VMC/Ext/Bone/Pos", [Argument::Text(bone), numbers @ ..]) => {
            push_bone(bone, numbers, packet);
        }
        _ => {}
    }
    Some(())
}

/// Skips an argument of a type that VMC does not use.
fn skip(kind: u8, rest: &mut &[u8]) -> Option<()> {
    let length = match kind {
        b'h' | b't' => 8,
        b'c' | b'r' | b'm' => 4,
        b'N' | b'I' | b'[' | b']' => 0,
        b'b' => {
            let length = u32::from_be_bytes(take(rest, 4)?.try_into().ok()?) as usize;
            length.checked_add(3)? / 4 * 4
        }
        _ => return None,
    };
    take(rest, length)?;
    Some(())
}

/// The angles of the head or of an eye, in radians.
fn push_bone(bone: &str, numbers: &[Argument<'_>], packet: &mut LivePacket) {
    let part = match bone {
        "Head" | "LeftEye" | "RightEye" => bone,
        _ => return,
    };
    let number = |argument: &Argument<'_>| match argument {
        Argument::Number(number) => Some(*number),
        Argument::Text(_) => None,
    };
    let numbers: Vec<f64> = numbers.iter().filter_map(number).collect();
    let [_, _, _, x, y, z, w] = numbers[..] else {
        return;
    };
    let rotation = DQuat::from_xyzw(x, y, z, w);
    if !rotation.is_finite() || rotation.length_squared() < 1e-12 {
        return;
    }

    let (yaw, pitch, roll) = rotation.normalize().to_euler(EulerRot::YXZ);
    for (angle, value) in [("Yaw", yaw), ("Pitch", pitch), ("Roll", -roll)] {
        packet.values.push((format!("{part}{angle}"), value));
    }
}

fn take<'a>(rest: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (first, after) = rest.split_at_checked(length)?;
    *rest = after;
    Some(first)
}

/// A text with its zeros up to a multiple of four bytes.
fn take_text<'a>(rest: &mut &'a [u8]) -> Option<&'a str> {
    let length = rest.iter().position(|&byte| byte == 0)?;
    let text = take(rest, (length + 4) / 4 * 4)?;
    std::str::from_utf8(&text[..length]).ok()
}

/// Writes a bundle of blend values with their end.
#[must_use]
pub fn encode_vmc(time_secs: f32, values: &[(&str, f32)]) -> Vec<u8> {
    let mut bytes = b"#bundle\0\0\0\0\0\0\0\0\x01".to_vec();
    let mut push = |message: Vec<u8>| {
        bytes.extend((message.len() as u32).to_be_bytes());
        bytes.extend(message);
    };
    push(
        [
            text("/VMC/Ext/T"),
            text(",f"),
            time_secs.to_be_bytes().to_vec(),
        ]
        .concat(),
    );
    for (name, value) in values {
        push(
            [
                text("/VMC/Ext/Blend/Val"),
                text(",sf"),
                text(name),
                value.to_be_bytes().to_vec(),
            ]
            .concat(),
        );
    }
    push([text("/VMC/Ext/Blend/Apply"), text(",")].concat());
    bytes
}

fn text(text: &str) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    bytes.resize((bytes.len() + 4) / 4 * 4, 0);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_written_bundle_is_read_and_a_damaged_one_is_declined() {
        let bytes = encode_vmc(2.5, &[("A", 0.25), ("Blink_L", 1.0)]);
        let packet = read_vmc(&bytes).unwrap();
        assert_eq!(packet.time_secs, Some(2.5));
        assert!(packet.ends_frame);
        assert_eq!(
            packet.values,
            [("A".to_owned(), 0.25), ("Blink_L".to_owned(), 1.0)]
        );
        for length in 0..bytes.len() {
            let _ = read_vmc(&bytes[..length]);
        }
    }

    #[test]
    fn bones_of_the_head_are_angles_and_other_types_are_skipped() {
        // A head that looks 0.4 rad to its right and 0.2 rad down.
        let rotation = DQuat::from_euler(EulerRot::YXZ, 0.4, 0.2, 0.0).as_quat();
        let mut bytes = text("/VMC/Ext/Bone/Pos");
        bytes.extend(text(",sfffffffhb"));
        bytes.extend(text("Head"));
        for number in [
            0.0, 1.6, 0.0, rotation.x, rotation.y, rotation.z, rotation.w,
        ] {
            bytes.extend(number.to_be_bytes());
        }
        bytes.extend([0; 8]);
        bytes.extend([0, 0, 0, 1, 7, 0, 0, 0]);
        let packet = read_vmc(&bytes).unwrap();
        let names: Vec<&str> = packet.values.iter().map(|(name, _)| &**name).collect();
        assert_eq!(names, ["HeadYaw", "HeadPitch", "HeadRoll"]);
        for ((_, value), wanted) in packet.values.iter().zip([0.4, 0.2, 0.0]) {
            assert!((value - wanted).abs() < 1e-6, "{value}");
        }
    }

    #[test]
    fn bundles_in_bundles_end() {
        let mut bytes = text("/x");
        bytes.extend(text(","));
        for _ in 0..100 {
            let mut outer = b"#bundle\0\0\0\0\0\0\0\0\x01".to_vec();
            outer.extend((bytes.len() as u32).to_be_bytes());
            outer.extend(&bytes);
            bytes = outer;
        }
        assert_eq!(read_vmc(&bytes), None);
    }
}
