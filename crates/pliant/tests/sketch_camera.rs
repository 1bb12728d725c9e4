//! The cameras of pictures and of sketches agree.

use pliant::mesh::glam::DVec3;
use pliant::rig::SketchCamera;
use pliant::view::{Camera, Projection};

fn cameras() -> Vec<SketchCamera> {
    let from = |eye: DVec3, up: DVec3| SketchCamera {
        eye,
        target: DVec3::new(0.2, -0.1, 0.4),
        up,
        fov_y_degrees: 38.0,
        width: 640,
        height: 361,
    };
    vec![
        from(DVec3::new(1.0, 2.0, 7.0), DVec3::Y),
        from(DVec3::new(-5.0, 0.5, 0.1), DVec3::new(0.3, 1.0, -0.2)),
        // Straight from above, where up is the viewing direction.
        from(DVec3::new(0.2, 9.0, 0.4), DVec3::Y),
        SketchCamera {
            fov_y_degrees: 120.0,
            width: 31,
            ..from(DVec3::new(0.0, -3.0, 3.0), DVec3::Z)
        },
    ]
}

#[test]
fn both_cameras_see_a_point_in_the_same_pixel() {
    for sketch in cameras() {
        let projection = Projection::Perspective {
            vertical_fov_rad: sketch.fov_y_degrees.to_radians(),
        };
        let picture = Camera {
            eye: sketch.eye,
            target: sketch.target,
            up: sketch.up,
            projection,
        };

        for k in 0..60 {
            let k = f64::from(k);
            let point = DVec3::new((k * 1.1).sin(), (k * 0.7).cos(), (k * 2.3).sin()) * 1.5;
            let size = [sketch.width as usize, sketch.height as usize];
            let drawn = sketch.project(point);
            let seen = picture.project(point, size);
            let drawn = drawn.expect("in front of the eye");
            let seen = seen.expect("in front of the eye");

            assert!(
                (0..2).all(|c| (drawn[c] - seen[c]).abs() < 1e-9 * (1.0 + seen[c].abs())),
                "{drawn:?} {seen:?}"
            );

            let (origin, direction) = sketch.ray(seen);
            let offset = point - origin;
            assert!((offset - direction * offset.dot(direction)).length() < 1e-9 * offset.length());
        }
    }
}
