use super::*;
use crate::Obstacle;
use pliant_mesh::shapes::{flat_sheet, icosphere};

fn ball_press(frames: usize, depth: f64) -> Vec<(Vec<DVec3>, TouchReport)> {
    let ball = icosphere(4);
    let patch = SoftPatch { center: 7, radius: 0.6 };
    let mut touch = Touch::new(&ball, &[patch], &TouchOptions::default()).unwrap();
    let out = ball.positions()[7];
    touch.add_collider(Collider::new(Obstacle::sphere(out * 1.4, 0.2).unwrap(), 0.0).unwrap());
    (0..frames)
        .map(|k| {
            let share = 1.0 - (2.0 * k as f64 / (frames - 1) as f64 - 1.0).abs();
            let motion = RigidMotion { translation: -out * ((0.2 + depth) * share), ..RigidMotion::IDENTITY };
            let report = touch.step(&TouchFrame { shape: None, colliders: &[motion], pulls: &[], secs: 1.0 / 60.0 }).unwrap();
            (touch.positions().to_vec(), report)
        })
        .collect()
}

#[test]
fn a_pressed_ball_gives_way_and_nothing_outside_the_patch_moves_by_a_bit() {
    let ball = icosphere(4);
    let frames = ball_press(61, 0.15);
    let region = SoftRegion::select(&ball, &[SoftPatch { center: 7, radius: 0.6 }]).unwrap();
    for (positions, report) in &frames {
        assert!(report.max_penetration < 1e-12, "{}", report.max_penetration);
        for (v, (now, rest)) in positions.iter().zip(ball.positions()).enumerate() {
            assert!(now == rest || region.vertices().binary_search(&(v as u32)).is_ok());
        }
    }
    assert_eq!(frames[0].0, ball.positions());
    assert!(frames[30].1.max_displacement > 0.14 && frames[30].1.max_displacement < 0.3, "{:?}", frames[30].1);
}

#[test]
fn sheet() {
    let sheet = flat_sheet(8, 0.0);
    assert!(sheet.vertex_count() > 0);
}
