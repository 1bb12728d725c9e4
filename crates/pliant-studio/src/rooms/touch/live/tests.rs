use super::*;
use pliant::mesh::shapes::icosphere;
use pliant::rig::Rig;
use std::sync::mpsc;

use crate::view::Surface;

const CENTER: usize = 7;

fn ball() -> Arc<Posed> {
    let mesh = icosphere(3);
    let (surface, vertices, positions) = (
        Surface::of(&mesh),
        Vertices::of(&mesh, mesh.positions()),
        Arc::new(mesh.positions().to_vec()),
    );
    Arc::new(Posed {
        asset: "ball.obj".into(),
        rig: Arc::new(Rig::still(mesh)),
        surface,
        weights: Vec::new(),
        positions,
        vertices,
        solve: None,
        drawn: None,
        secs: 0.0,
    })
}

/// A small ball whose middle is at `share` of the way to the patch's middle, from just outside.
fn ask(posed: &Arc<Posed>, share: f64) -> Ask {
    let out = posed.positions[CENTER];
    let held = HeldSolid {
        solid: Solid::default(),
        radius: 0.2,
        friction: 0.0,
        place: out * share,
        from: out * 1.25,
    };
    Ask {
        posed: posed.clone(),
        patches: vec![SoftPatch {
            center: CENTER,
            radius: 0.7,
        }],
        options: TouchOptions::default(),
        solid: Some(held),
        pull: None,
        shown: Shown::Displacement,
        brushed: false,
        playing_secs: None,
    }
}

fn bell() -> (Wake, mpsc::Receiver<()>) {
    let (ring, woken) = mpsc::channel();
    (Arc::new(move || ring.send(()).unwrap_or(())), woken)
}

fn answer(worker: &Latest<Ask, Touched>, woken: &mpsc::Receiver<()>) -> Result<Touched, String> {
    loop {
        if let Some(answer) = worker.answer() {
            return answer;
        }
        woken.recv().unwrap();
    }
}

fn rest(worker: &Latest<Ask, Touched>, woken: &mpsc::Receiver<()>) -> Touched {
    loop {
        let touched = answer(worker, woken).unwrap();
        if touched.rests && !worker.busy() {
            return touched;
        }
    }
}

#[test]
#[cfg(feature = "parallel")]
fn the_newest_place_of_the_solid_wins_and_the_skin_comes_to_rest_around_it() {
    let (wake, woken) = bell();
    let (posed, worker) = (ball(), start(wake));
    for k in 0..=100 {
        worker.ask(ask(&posed, 1.25 - 0.0015 * f64::from(k)));
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
fn skin_comes_back_when_the_solid_leaves() {
    let (wake, woken) = bell();
    let (posed, worker) = (ball(), start(wake));
    worker.ask(ask(&posed, 1.1));
    let pressed = rest(&worker, &woken).report.max_displacement;
    worker.ask(ask(&posed, 1.25));
    let left = rest(&worker, &woken).report.max_displacement;
    assert!(
        pressed > 0.08 && left < 0.02 * pressed,
        "{pressed} and then {left}"
    );
}

#[test]
#[cfg(feature = "parallel")]
fn a_solid_that_is_inside_from_the_start_has_come_from_outside() {
    let (wake, woken) = bell();
    let (posed, worker) = (ball(), start(wake.clone()));
    worker.ask(ask(&posed, 1.25));
    rest(&worker, &woken);
    worker.ask(ask(&posed, 1.1));
    let moved = rest(&worker, &woken);
    let fresh = start(wake);
    fresh.ask(ask(&posed, 1.1));
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
fn a_panic_in_a_step_is_a_sentence_and_the_worker_goes_on() {
    let (wake, woken) = bell();
    let posed = ball();
    let unlucky = posed.positions[CENTER] * 1.2;
    let worker = start_with(wake, move |ask| {
        assert_ne!(
            ask.solid.as_ref().map(|held| held.place),
            Some(unlucky),
            "a slip"
        )
    });
    worker.ask(ask(&posed, 1.2));
    let sentence = answer(&worker, &woken).unwrap_err();
    assert!(
        sentence.contains("Touching") && sentence.contains("a slip"),
        "{sentence}"
    );
    worker.ask(ask(&posed, 1.1));
    assert!(answer(&worker, &woken).is_ok());
}

#[test]
fn what_the_simulation_declines_is_a_sentence() {
    let (wake, woken) = bell();
    let (posed, worker) = (ball(), start(wake));
    worker.ask(Ask {
        patches: vec![SoftPatch {
            center: CENTER,
            radius: -1.0,
        }],
        ..ask(&posed, 1.2)
    });
    let sentence = answer(&worker, &woken).unwrap_err();
    assert!(
        sentence.contains("radius") && sentence.ends_with('.'),
        "{sentence}"
    );
}

#[test]
#[cfg(feature = "parallel")]
fn skin_rides_on_an_animation_and_lags_behind_it_where_it_has_inertia() {
    let (wake, woken) = bell();
    let (posed, worker) = (ball(), start(wake));
    let frame = |k: i32| {
        let moved = DVec3::Y * (0.05 * f64::from(k * k));
        Arc::new(Posed {
            positions: Arc::new(posed.positions.iter().map(|p| *p + moved).collect()),
            ..(*posed).clone()
        })
    };
    let farthest = |inertia: f64| {
        let options = TouchOptions::default().with_inertia(inertia);
        let mut most = 0.0_f64;
        for k in 0..4 {
            worker.ask(Ask {
                posed: frame(k),
                solid: None,
                options: options.clone(),
                playing_secs: Some(STEP_SECS),
                ..ask(&posed, 1.0)
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
