//! Packets of text: iFacialMocap and JSON.
//!
//! **Format.** iFacialMocap sends `name-percent` separated by `|`, then `=`, then rotations as
//! `head#pitch,yaw,roll,x,y,z` and `leftEye#pitch,yaw,roll`, in degrees. JSON is one object of
//! numbers, or holds such objects beside its `time` or `timestamp` in seconds.
//!
//! **Departures.** Names with `_L` and `_R` are kept. The sign of the yaw of iFacialMocap is that of
//! its own manual; a gain of −1 changes it.

use serde_json::Value;

use super::LivePacket;

/// Reads a packet of iFacialMocap; `None` for other bytes.
#[must_use]
pub fn read_ifacialmocap(bytes: &[u8]) -> Option<LivePacket> {
    let text = std::str::from_utf8(bytes).ok()?;
    let (shapes, rotations) = text.split_once('=')?;
    let mut values = Vec::new();
    for shape in shapes.split('|').filter(|shape| !shape.is_empty()) {
        // A value may be negative: `jawOpen--1`; version 2 separates by `&`.
        let (name, percent) = shape.split_once(['&', '-'])?;
        values.push((
            name.trim().to_owned(),
            0.01 * percent.trim().parse::<f64>().ok()?,
        ));
    }

    for rotation in rotations.split('|').filter(|rotation| !rotation.is_empty()) {
        let (part, numbers) = rotation.split_once('#')?;
        let part = match part.trim() {
            "head" => "Head",
            "leftEye" => "LeftEye",
            "rightEye" => "RightEye",
            _ => continue,
        };
        for (angle, number) in ["Pitch", "Yaw", "Roll"].into_iter().zip(numbers.split(',')) {
            let degrees: f64 = number.trim().parse().ok()?;
            values.push((format!("{part}{angle}"), degrees.to_radians()));
        }
    }
    (!values.is_empty()).then_some(LivePacket {
        subject: String::new(),
        time_secs: None,
        values,
        ends_frame: true,
    })
}

/// Reads one JSON object; `None` for other bytes.
#[must_use]
pub fn read_json_packet(bytes: &[u8]) -> Option<LivePacket> {
    let Value::Object(fields) = serde_json::from_slice(bytes).ok()? else {
        return None;
    };
    let mut packet = LivePacket {
        ends_frame: true,
        ..LivePacket::default()
    };
    for (name, value) in fields {
        match value {
            Value::Number(number) if matches!(name.as_str(), "time" | "timestamp" | "t") => {
                packet.time_secs = number.as_f64();
            }
            Value::Number(number) => packet.values.push((name, number.as_f64()?)),
            Value::String(subject) if name == "subject" => packet.subject = subject,
            Value::Object(inner) => {
                let numbers = inner.into_iter();
                packet
                    .values
                    .extend(numbers.filter_map(|(name, v)| Some((name, v.as_f64()?))));
            }
            _ => {}
        }
    }
    (!packet.values.is_empty()).then_some(packet)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_both_kinds_are_read() {
        let packet =
            read_ifacialmocap(b"eyeBlink_L-50|jawOpen-7|=head#10,-20,0,0,0,0|leftEye#1,2,3|")
                .unwrap();
        assert!(packet.values.contains(&("eyeBlink_L".into(), 0.5)));
        assert!(
            packet
                .values
                .contains(&("HeadPitch".into(), 10_f64.to_radians()))
        );
        assert_eq!(packet.values.len(), 8);
        let packet =
            read_json_packet(br#"{"time": 1.5, "blendShapes": {"jawOpen": 0.25}}"#).unwrap();
        assert_eq!((packet.time_secs, packet.values.len()), (Some(1.5), 1));
        for other in [
            &b"hello"[..],
            b"a-b|=",
            b"\xff=",
            b"{",
            b"{\"a\": \"b\"}",
            b"[1]",
            b"=",
        ] {
            assert_eq!(read_ifacialmocap(other).or(read_json_packet(other)), None);
        }
    }
}
