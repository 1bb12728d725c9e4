//! Expressions of brows, cheeks and nose.

use pliant_mesh::glam::{DVec2, DVec3};

use super::face::{Face, bump, front_bump};

/// Slides the skin near `center` (front view) by `pull`.
fn slide_near(face: &Face, v: usize, center: DVec2, radii: DVec2, pull: DVec3) -> DVec3 {
    let site = face.sites()[v];
    face.slide(
        site.p,
        pull * (site.flesh * front_bump(site.p, center, radii)),
    )
}

/// Lowers the brow and draws it to the nose.
pub(in crate::head) fn down(face: &Face, v: usize, side: f64, w: f64) -> DVec3 {
    if side < 0.0 {
        return DVec3::ZERO;
    }
    slide_near(
        face,
        v,
        DVec2::new(2.6, 3.0),
        DVec2::new(2.55, 2.2),
        DVec3::new(-0.3, -0.85, 0.0) * w,
    )
}

pub(in crate::head) fn inner_up(face: &Face, v: usize, _side: f64, w: f64) -> DVec3 {
    slide_near(
        face,
        v,
        DVec2::new(1.0, 2.9),
        DVec2::new(3.0, 2.3),
        DVec3::new(0.0, 1.15, 0.0) * w,
    )
}

pub(in crate::head) fn outer_up(face: &Face, v: usize, side: f64, w: f64) -> DVec3 {
    if side < 0.0 {
        return DVec3::ZERO;
    }
    slide_near(
        face,
        v,
        DVec2::new(4.9, 3.0),
        DVec2::new(3.0, 2.4),
        DVec3::new(0.0, 1.0, 0.0) * w,
    )
}

/// Lifts the apple of the cheek.
pub(in crate::head) fn raise_cheek(face: &Face, v: usize, weight: f64) -> DVec3 {
    let site = face.sites()[v];

    // The skin slides up and bulges outward.
    let slid = slide_near(
        face,
        v,
        DVec2::new(4.2, -3.9),
        DVec2::new(3.1, 2.6),
        DVec3::new(0.0, 0.42, 0.0) * weight,
    );

    slid + face.sculpt.normal(site.p)
        * (0.27
            * weight
            * site.flesh
            * front_bump(site.p, DVec2::new(4.2, -3.6), DVec2::new(3.1, 2.3)))
}

pub(in crate::head) fn cheek_squint(face: &Face, v: usize, side: f64, w: f64) -> DVec3 {
    if side < 0.0 {
        DVec3::ZERO
    } else {
        raise_cheek(face, v, 1.1 * w)
    }
}

/// Air in the cheeks.
pub(in crate::head) fn puff(face: &Face, v: usize, _side: f64, w: f64) -> DVec3 {
    let site = face.sites()[v];
    let weight = site.flesh
        * bump(
            site.p,
            DVec3::new(4.3, -5.3, 6.0),
            DVec3::new(3.6, 3.1, 5.0),
        )
        * (1.0 - 0.85 * site.lip);
    face.sculpt.normal(site.p) * (1.0 * weight * w)
}

/// Wrinkles one side of the nose; the upper lip follows.
pub(in crate::head) fn sneer(face: &Face, v: usize, side: f64, w: f64) -> DVec3 {
    if side < 0.0 {
        return DVec3::ZERO;
    }

    let site = face.sites()[v];

    // The wing of the nose, the upper lip below it, and the skin beside the bridge.
    let wing = site.flesh
        * bump(
            site.p,
            DVec3::new(1.5, -3.2, 8.6),
            DVec3::new(1.45, 1.9, 2.4),
        );
    let lip = site.flesh
        * front_bump(site.p, DVec2::new(1.6, -5.2), DVec2::new(1.55, 1.6))
        * (1.0 - site.lip + site.lip * site.upness.max(0.0));

    DVec3::new(0.12, 0.5, 0.0) * (wing * w)
        + DVec3::new(0.0, 0.22, 0.06) * (lip * w)
        + slide_near(
            face,
            v,
            DVec2::new(1.7, 2.4),
            DVec2::new(1.65, 1.6),
            DVec3::new(-0.12, -0.4, 0.0) * w,
        )
}
