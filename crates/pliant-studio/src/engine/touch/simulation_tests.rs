use super::*;
use pliant::mesh::shapes::icosphere;
use pliant::rig::Rig;
use std::sync::mpsc;

use crate::engine::surface::Surface;

const CENTER: usize = 7;

fn ball() -> Arc<PosedCharacter> {
    let mesh = icosphere(3);
    let surface = Surface::of(&mesh);
    let vertices = Vertices::of(&mesh, mesh.positions());
    let positions = Arc::new(mesh.positions().to_vec());

    Arc::new(PosedCharacter {
        asset: "ball.obj".into(),
        rig: Arc::new(Rig::without_targets(mesh)),
        surface,
        weights: Vec::new(),
        positions,
        vertices,
        solve: None,
        drawn: None,
        secs: 0.0,
    })
}

/// A small ball whose middle is at `share` of the way to the patch's centre, from just outside.
fn press_request(posed: &Arc<PosedCharacter>, share: f64) -> TouchRequest {
    let out = posed.positions[CENTER];
    let held = HeldSolid {
        solid: ColliderSetup::default(),
        radius: 0.2,
        friction: 0.0,
        place: out * share,
        from: out * 1.25,
    };

    TouchRequest {
        posed: posed.clone(),
        patches: vec![SoftPatch {
            center: CENTER.into(),
            radius: 0.7,
        }],
        options: TouchOptions::default(),
        solid: Some(held),
        pull: None,
        shown: SkinColoring::Displacement,
        brushed: false,
        playing_secs: None,
    }
}

fn wake_channel() -> (Wake, mpsc::Receiver<()>) {
    let (ring, woken) = mpsc::channel();
    (Arc::new(move || ring.send(()).unwrap_or(())), woken)
}

fn answer(
    worker: &Latest<TouchRequest, TouchResult>,
    woken: &mpsc::Receiver<()>,
) -> Result<TouchResult, String> {
    loop {
        if let Some(answer) = worker.result() {
            return answer;
        }
        woken.recv().unwrap();
    }
}

fn rest(worker: &Latest<TouchRequest, TouchResult>, woken: &mpsc::Receiver<()>) -> TouchResult {
    loop {
        let touched = answer(worker, woken).unwrap();
        if touched.rests && !worker.busy() {
            return touched;
        }
    }
}

#[test]
#[cfg(feature = "parallel")]
fn the_newest_collider_position_wins_and_the_skin_comes_to_rest() {
    let (wake, woken) = wake_channel();
    let posed = ball();
    let worker = start(wake);
    for k in 0..=100 {
        worker.send(press_request(&posed, 1.25 - 0.0015 * f64::from(k)));
    }

    let touched = rest(&worker, &woken);
    let held = touched.solid.as_ref().unwrap();
    assert_eq!(held.place, posed.positions[CENTER] * 1.1);

    let depth = 1.0 - touched.positions[CENTER].length();
    assert!(
        (depth - 0.1).abs() < 0.02,
        "pressed by {depth}, for a ball that reaches 0.1 below the surface"
    );

    for (v, (now, own)) in touched
        .positions
        .iter()
        .zip(posed.positions.iter())
        .enumerate()
    {
        assert!(
            now == own || touched.region.node_of(v).is_some(),
            "vertex {v} is not soft"
        );
    }
}

#[test]
#[cfg(feature = "parallel")]
fn the_skin_recovers_when_the_collider_leaves() {
    let (wake, woken) = wake_channel();
    let posed = ball();
    let worker = start(wake);
    worker.send(press_request(&posed, 1.1));

    let pressed = rest(&worker, &woken).report.max_displacement;
    worker.send(press_request(&posed, 1.25));
    let left = rest(&worker, &woken).report.max_displacement;

    assert!(
        pressed > 0.08 && left < 0.02 * pressed,
        "{pressed} and then {left}"
    );
}

#[test]
#[cfg(feature = "parallel")]
fn a_collider_that_starts_inside_enters_from_outside() {
    let (wake, woken) = wake_channel();
    let posed = ball();
    let worker = start(wake.clone());
    worker.send(press_request(&posed, 1.25));
    rest(&worker, &woken);
    worker.send(press_request(&posed, 1.1));

    let moved = rest(&worker, &woken);
    let fresh = start(wake);
    fresh.send(press_request(&posed, 1.1));

    let reopened = rest(&fresh, &woken);
    let apart = moved
        .positions
        .iter()
        .zip(reopened.positions.iter())
        .map(|(a, b)| a.distance(*b))
        .fold(0.0, f64::max);

    assert!(apart < 0.01, "{apart}");
}

#[test]
fn a_panic_in_a_step_is_reported_and_the_worker_continues() {
    let (wake, woken) = wake_channel();
    let posed = ball();
    let unlucky = posed.positions[CENTER] * 1.2;
    let worker = start_with(wake, move |request| {
        assert_ne!(
            request.solid.as_ref().map(|held| held.place),
            Some(unlucky),
            "a slip"
        )
    });

    worker.send(press_request(&posed, 1.2));
    let message = answer(&worker, &woken).unwrap_err();
    assert!(
        message.contains("Touching") && message.contains("a slip"),
        "{message}"
    );

    worker.send(press_request(&posed, 1.1));
    assert!(answer(&worker, &woken).is_ok());
}

#[test]
fn invalid_simulation_settings_are_an_error_message() {
    let (wake, woken) = wake_channel();
    let posed = ball();
    let worker = start(wake);
    worker.send(TouchRequest {
        patches: vec![SoftPatch {
            center: CENTER.into(),
            radius: -1.0,
        }],
        ..press_request(&posed, 1.2)
    });

    let message = answer(&worker, &woken).unwrap_err();
    assert!(
        message.contains("radius") && message.ends_with('.'),
        "{message}"
    );
}

#[test]
#[cfg(feature = "parallel")]
fn skin_follows_an_animation_and_lags_with_inertia() {
    let (wake, woken) = wake_channel();
    let posed = ball();
    let worker = start(wake);
    let frame = |k: i32| {
        let moved = DVec3::Y * (0.05 * f64::from(k * k));
        Arc::new(PosedCharacter {
            positions: Arc::new(posed.positions.iter().map(|p| *p + moved).collect()),
            ..(*posed).clone()
        })
    };

    let farthest = |inertia: f64| {
        let options = TouchOptions::default().with_inertia(inertia);
        let mut most = 0.0_f64;
        for k in 0..4 {
            worker.send(TouchRequest {
                posed: frame(k),
                solid: None,
                options: options.clone(),
                playing_secs: Some(STEP_SECS),
                ..press_request(&posed, 1.0)
            });
            while answer(&worker, &woken).is_ok_and(|touched| {
                most = most.max(touched.report.max_displacement);
                worker.busy()
            }) {}
        }

        most
    };

    assert!(farthest(0.0) < 1e-9);
    assert!(farthest(1.0) > 0.01);
}
