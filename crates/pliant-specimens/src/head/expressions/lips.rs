//! Expressions of the muscles around the mouth.

use pliant_mesh::glam::{DVec2, DVec3};

use super::brow_muscles as brows;
use super::face::{Face, Site, front_bump};
use crate::head::geometry::anatomy as an;
use crate::math::smoothstep_between;

/// Part of a symmetric field that belongs to one side; both parts add up to one.
fn share(p: DVec3, side: f64) -> f64 {
    smoothstep_between(-1.0, 1.0, p.x * side)
}

/// Where a pull on the corner is strongest, in front view: a little outside, so that the lips bend
/// all the way.
const PULL: DVec2 = DVec2::new(an::MOUTH_HALF_WIDTH + 0.55, an::MOUTH_Y + 0.3);

/// Pulls the corner along the skin; lips and cheek follow within `reach`. The pull does not cross
/// the midline.
fn pull_corner(face: &Face, v: usize, side: f64, pull: DVec3, reach: DVec2) -> DVec3 {
    let site = face.sites()[v];
    if side < 0.0 {
        return DVec3::ZERO;
    }

    // The pull fades out over a longer distance above: the cheek is softer than the chin.
    let height = site.p.y - PULL.y;
    let d = height
        / if height > 0.0 {
            1.35 * reach.y
        } else {
            reach.y
        };

    // A product of a falloff across, one along the height, and one that ends before the ear.
    let rows = (1.0 - d * d).max(0.0);
    let weight = across(site.p.x, reach.x) * rows * rows * smoothstep_between(2.0, 6.0, site.p.z);
    face.slide(site.p, pull * (weight * site.flesh))
}

/// From 0 at the midline like a parabola, so that bent lips are round, to 1 at the pull and
/// smoothly back to 0 at `reach` beyond.
fn across(x: f64, reach: f64) -> f64 {
    let u = x / PULL.x;
    if u < 1.0 {
        return u * u;
    }
    // The cubic that goes on with the parabola's slope.
    let t = ((x - PULL.x) / reach).min(1.0);
    let slope = 2.0 * reach / PULL.x;
    (2.0 * t - 3.0) * t * t + 1.0 + ((t - 2.0) * t + 1.0) * t * slope
}

fn upper(site: &Site) -> f64 {
    site.lip * site.upness.max(0.0)
}

fn lower(site: &Site) -> f64 {
    site.lip * (-site.upness).max(0.0)
}

/// Up and back; the cheek rises and bulges.
pub(in crate::head) fn smile(face: &Face, v: usize, side: f64, w: f64) -> DVec3 {
    if side < 0.0 {
        return DVec3::ZERO;
    }
    pull_corner(
        face,
        v,
        side,
        DVec3::new(0.75, 1.15, 0.0) * w,
        DVec2::new(2.4, 2.7),
    ) + brows::raise_cheek(face, v, 0.6 * w)
}

pub(in crate::head) fn frown(face: &Face, v: usize, side: f64, w: f64) -> DVec3 {
    pull_corner(
        face,
        v,
        side,
        DVec3::new(0.1, -1.15, 0.0) * w,
        DVec2::new(2.2, 2.5),
    )
}

pub(in crate::head) fn dimple(face: &Face, v: usize, side: f64, w: f64) -> DVec3 {
    let p = face.sites()[v].p;
    let back =
        front_bump(p, PULL, DVec2::new(1.3, 1.3)) * f64::from(side > 0.0) * face.sites()[v].flesh;

    pull_corner(
        face,
        v,
        side,
        DVec3::new(0.45, 0.05, 0.0) * w,
        DVec2::new(2.2, 2.0),
    ) - face.sculpt.normal(p) * (0.3 * back * w)
}

pub(in crate::head) fn stretch(face: &Face, v: usize, side: f64, w: f64) -> DVec3 {
    pull_corner(
        face,
        v,
        side,
        DVec3::new(0.85, -0.35, 0.0) * w,
        DVec2::new(2.8, 2.4),
    )
}

/// The whole mouth to one side.
pub(in crate::head) fn sideways(face: &Face, v: usize, side: f64, w: f64) -> DVec3 {
    let site = face.sites()[v];
    let weight =
        front_bump(site.p, DVec2::new(0.0, an::MOUTH_Y), DVec2::new(4.6, 2.9)) * site.flesh;
    face.slide(site.p, DVec3::X * (side * 1.0 * weight * w))
}

/// Draws the corners in and pushes the lips out by `forward`.
fn gather(face: &Face, v: usize, inward: f64, forward: f64) -> DVec3 {
    let site = face.sites()[v];
    let weight =
        front_bump(site.p, DVec2::new(0.0, an::MOUTH_Y), DVec2::new(4.4, 2.7)) * site.flesh;

    // Behind the lips the bag keeps its distance from the skin in front of it.
    let lips = 0.35 * weight + 0.65 * face.outer_lip(v);
    let slid = face.slide(
        site.p,
        DVec3::X * (-inward * site.p.x * (0.5 * weight + 0.5 * site.lip)),
    );

    slid + DVec3::Z * (forward * lips)
}

/// A kiss.
pub(in crate::head) fn pucker(face: &Face, v: usize, _side: f64, w: f64) -> DVec3 {
    let site = face.sites()[v];
    let thicker = DVec3::Y * (0.35 * (site.p.y - face.contact_point(v).y) * site.lip);
    gather(face, v, 0.46 * w, 0.75 * w) + thicker * w
}

/// As if to say "oh": the lips form a ring.
pub(in crate::head) fn funnel(face: &Face, v: usize, _side: f64, w: f64) -> DVec3 {
    let site = face.sites()[v];
    let parted =
        DVec3::new(0.0, 0.4, 0.1) * upper(&site) + DVec3::new(0.0, -0.6, 0.1) * lower(&site);
    gather(face, v, 0.40 * w, 0.55 * w) + parted * w
}

/// Folds a lip in: its red part rotates inwards, its border comes to the line of contact.
fn roll(face: &Face, v: usize, weight: f64) -> DVec3 {
    let site = face.sites()[v];
    let lip = face.outer_lip(v);
    let folded = (face.contact_point(v).y - site.p.y) * 0.7 * lip;
    let skin = (lip - face.redness(v)).max(0.0);
    DVec3::new(0.0, folded, -0.34 * face.redness(v) - 0.12 * skin) * weight
}

pub(in crate::head) fn roll_lower(face: &Face, v: usize, _side: f64, w: f64) -> DVec3 {
    roll(face, v, (-face.sites()[v].upness).max(0.0) * w)
}

pub(in crate::head) fn roll_upper(face: &Face, v: usize, _side: f64, w: f64) -> DVec3 {
    roll(face, v, face.sites()[v].upness.max(0.0) * w)
}

/// Presses both lips flat.
pub(in crate::head) fn press(face: &Face, v: usize, side: f64, w: f64) -> DVec3 {
    let site = face.sites()[v];
    let line = face.contact_point(v);
    let flat = DVec3::new(
        0.0,
        (line.y - site.p.y) * 0.45 * face.outer_lip(v),
        -0.16 * face.redness(v),
    );

    flat * (share(site.p, side) * w)
        + pull_corner(
            face,
            v,
            side,
            DVec3::new(0.2, 0.05, 0.0) * w,
            DVec2::new(1.8, 1.6),
        )
}

pub(in crate::head) fn shrug_lower(face: &Face, v: usize, _side: f64, w: f64) -> DVec3 {
    let site = face.sites()[v];

    // The boss of the chin rises with the lower lip.
    let boss = front_bump(
        site.p,
        DVec2::new(0.0, an::MOUTH_Y - 2.2),
        DVec2::new(2.8, 2.0),
    ) * site.flesh;

    let lip = lower(&site) + upper(&site);
    DVec3::new(0.0, 0.34, 0.14) * (lip * w)
        + face.slide(site.p, DVec3::Y * (0.45 * boss * (1.0 - site.lip) * w))
        + DVec3::Z * (0.12 * boss * w)
}

pub(in crate::head) fn shrug_upper(face: &Face, v: usize, _side: f64, w: f64) -> DVec3 {
    let site = face.sites()[v];
    DVec3::new(0.0, 0.38, 0.22) * ((upper(&site) + lower(&site)) * w)
}

/// Lifts or lowers one half of a lip.
fn part_lip(face: &Face, v: usize, side: f64, weight: f64, by: DVec3) -> DVec3 {
    let site = face.sites()[v];

    // The motion fades out towards the corner; the skin around the lip follows by half.
    let along = 1.0 - smoothstep_between(0.6, 1.1, site.p.x / an::MOUTH_HALF_WIDTH);
    let around = front_bump(
        site.p,
        DVec2::new(0.9, an::MOUTH_Y + by.y.signum() * 0.9),
        DVec2::new(2.9, 2.0),
    ) * site.flesh;
    let skin =
        around * (1.0 - site.lip) * smoothstep_between(-0.1, 0.6, site.upness * by.y.signum());
    by * ((weight * along + 0.5 * skin) * share(site.p, side))
}

pub(in crate::head) fn lower_down(face: &Face, v: usize, side: f64, w: f64) -> DVec3 {
    part_lip(
        face,
        v,
        side,
        lower(&face.sites()[v]),
        DVec3::new(0.0, -0.6, 0.06) * w,
    )
}

pub(in crate::head) fn upper_up(face: &Face, v: usize, side: f64, w: f64) -> DVec3 {
    part_lip(
        face,
        v,
        side,
        upper(&face.sites()[v]),
        DVec3::new(0.0, 0.55, 0.04) * w,
    )
}
