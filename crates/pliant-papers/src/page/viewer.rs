//! A mesh or a clip that can be turned and played: one piece of HTML, without any network.
//!
//! **Problem.** A picture shows one side of one frame.
//!
//! **Method.** Positions are rounded to 16 bits of the largest side of all frames, a part in 65534 and
//! below a pixel, and stand in the page as base64. The page draws them with WebGL; the notebooks of the
//! Python package use the same page ([`VIEWER_PAGE`]).

use std::fmt::Write;

use pliant_mesh::Mesh;
use pliant_mesh::glam::DVec3;

use super::escaped;

/// The page, with the places `/*data*/` (a JSON object) and `<!--caption-->`.
///
/// The object holds `frames` (base64 of 16-bit integers, little-endian: 65534 is the largest side),
/// `triangles` (base64 of 32-bit indices), `vertices` and `count` (numbers of vertices and frames), and
/// `rate` (frames per second).
pub const VIEWER_PAGE: &str = include_str!("viewer.html");

/// The most bytes of positions in one page; clips that need more are shown with every second, third …
/// frame.
const MOST_BYTES: usize = 1_500_000;

/// The page of a mesh at `frames`, or as it is where there are none.
#[must_use]
pub fn viewer_page(mesh: &Mesh, frames: &[Vec<DVec3>], fps: f64, caption: &str) -> String {
    let rest = [mesh.positions().to_vec()];
    let frames = if frames.is_empty() { &rest[..] } else { frames };
    let stride = (frames.len() * mesh.vertex_count() * 6)
        .div_ceil(MOST_BYTES)
        .max(1);
    let shown: Vec<&Vec<DVec3>> = frames.iter().step_by(stride).collect();

    let triangles = mesh.triangles().iter().flatten();
    let indices: Vec<u8> = triangles.flat_map(|index| index.to_le_bytes()).collect();
    let data = format!(
        "{{\"frames\":\"{}\",\"triangles\":\"{}\",\"vertices\":{},\"count\":{},\"rate\":{}}}",
        base64(&rounded(&shown)),
        base64(&indices),
        mesh.vertex_count(),
        shown.len(),
        fps / stride as f64
    );
    VIEWER_PAGE
        .replace("<!--caption-->", &escaped(caption))
        .replace("/*data*/", &data)
}

/// Positions around the middle of all frames, as 16-bit integers.
fn rounded(frames: &[&Vec<DVec3>]) -> Vec<u8> {
    let finite = || frames.iter().copied().flatten().filter(|p| p.is_finite());
    let low = finite().copied().reduce(DVec3::min).unwrap_or_default();
    let high = finite().copied().reduce(DVec3::max).unwrap_or_default();
    let middle = (low + high) / 2.0;
    let size = (high - low).max_element().max(f64::MIN_POSITIVE);

    let round = |value: f64| ((value / size * 65534.0).round() as i16).to_le_bytes();
    let points = frames.iter().copied().flatten();
    points
        .flat_map(|point| (*point - middle).to_array().map(round))
        .flatten()
        .collect()
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let byte = |k: usize| u32::from(three.get(k).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for digit in 0..4 {
            if digit <= three.len() {
                text.push(char::from(DIGITS[(bits >> (18 - 6 * digit)) as usize & 63]));
            } else {
                text.push('=');
            }
        }
    }
    text
}

/// A viewer on another page, which is loaded when it comes into sight.
pub(super) fn write_frame(file: &str, caption: &str, html: &mut String) {
    let (file, caption) = (escaped(file), escaped(caption));
    let _ = write!(
        html,
        "<figure><iframe src=\"{file}\" title=\"{caption}\" loading=\"lazy\"></iframe>\
         <figcaption>{caption} Drag to turn, Shift and drag to move, wheel to come closer.</figcaption></figure>"
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_the_standard() {
        // The test vectors of RFC 4648, section 10.
        let vectors = [
            "", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy",
        ];
        for (length, expected) in vectors.iter().enumerate() {
            assert_eq!(base64(&b"foobar"[..length]), *expected);
        }
    }

    #[test]
    fn positions_are_within_half_a_step_of_the_largest_side() {
        let points = vec![DVec3::new(1.0, -2.0, 3.5), DVec3::new(-1.0, 2.25, 0.1)];
        let bytes = rounded(&[&points]);
        let side = 4.25;
        let middle = DVec3::new(0.0, 0.125, 1.8);
        for (k, pair) in bytes.chunks(2).enumerate() {
            let value = f64::from(i16::from_le_bytes([pair[0], pair[1]])) / 65534.0 * side;
            let expected = (points[k / 3] - middle).to_array()[k % 3];
            assert!(
                (value - expected).abs() <= side / 65534.0,
                "{value} {expected}"
            );
        }
    }

    #[test]
    fn a_page_holds_its_data_and_no_address_of_a_network() {
        let mesh = pliant_specimens::load("specimen:bar")
            .unwrap()
            .mesh()
            .unwrap();
        let frames = vec![mesh.positions().to_vec(); 3];
        let page = viewer_page(&mesh, &frames, 24.0, "a <bar>");
        assert!(page.contains("\"count\":3") && page.contains("\"rate\":24"));
        assert!(page.contains("a &lt;bar&gt;") && !page.contains("http"));
        assert!(!page.contains("/*data*/"));
    }
}
