use super::*;
use crate::test_solids::{fork, joined};
use pliant_mesh::SurfaceIndex;
use pliant_mesh::shapes::{closed_box, flat_sheet, icosphere};

/// A flat unit square at this height; it looks up, or down.
fn sheet(cells: usize, height: f64, looks_up: bool) -> Mesh {
    let mesh = flat_sheet(cells, 0.2);
    let positions: Vec<DVec3> = mesh
        .positions()
        .iter()
        .map(|p| DVec3::new(p.x, p.y, height))
        .collect();

    let up = triangle_normal(mesh.triangle_points(0)).z > 0.0;
    let triangles: Vec<[u32; 3]> = mesh
        .triangles()
        .iter()
        .map(|&[a, b, c]| if up == looks_up { [a, b, c] } else { [a, c, b] })
        .collect();

    Mesh::from_triangles(positions, &triangles).unwrap()
}

fn contact_of(mesh: &Mesh, soft: &[bool]) -> SkinContact {
    let length =
        |&[a, b]: &[u32; 2]| mesh.positions()[a as usize].distance(mesh.positions()[b as usize]);
    let edges = mesh
        .topology()
        .edges()
        .iter()
        .filter(|ends| ends.iter().any(|&v| soft[v as usize]));
    SkinContact::new(mesh, soft.to_vec(), mean(edges.map(length)))
}

/// Whether a place is over a sheet for any cells, and not over its rim.
fn is_inner(place: &DVec3) -> bool {
    [place.x, place.y]
        .iter()
        .all(|along| (0.05..0.95).contains(along))
}

/// The upper half of a ball, open below.
fn dome(levels: usize, radius: f64, center: DVec3) -> Mesh {
    let ball = icosphere(levels);
    let is_above = |t: &[u32; 3]| t.iter().all(|&v| ball.positions()[v as usize].z > -1e-9);
    let triangles: Vec<[u32; 3]> = ball.triangles().iter().copied().filter(is_above).collect();

    Mesh::from_triangles(
        ball.positions()
            .iter()
            .map(|p| *p * radius + center)
            .collect(),
        &triangles,
    )
    .unwrap()
}

/// Soft from this vertex on.
fn soft_from(mesh: &Mesh, first: usize) -> (Vec<bool>, Vec<f64>) {
    let soft: Vec<bool> = (0..mesh.vertex_count()).map(|v| v >= first).collect();
    let inverse_masses = soft
        .iter()
        .map(|&soft| if soft { 1.0 } else { 0.0 })
        .collect();
    (soft, inverse_masses)
}

/// Moves vertices by `step` in each of ten substeps of a frame, and separates what meets; returns how
/// often something pushed.
fn press(
    contact: &mut SkinContact,
    rest: &[DVec3],
    now: &mut [DVec3],
    masses: &[f64],
    step: impl Fn(usize) -> DVec3,
    sweeps: usize,
) -> usize {
    contact.search(rest, now);
    let mut pushed = 0;
    for _ in 0..10 {
        for v in 0..now.len() {
            now[v] += step(v);
        }
        pushed += (0..sweeps)
            .map(|_| contact.separate(now, masses, None))
            .sum::<usize>();
    }

    pushed
}

/// How far each point is before the nearest triangle of a part of the mesh.
fn heights(
    mesh: &Mesh,
    now: &[DVec3],
    part: std::ops::Range<u32>,
    points: std::ops::Range<usize>,
) -> Vec<f64> {
    let triangles: Vec<[u32; 3]> = mesh
        .triangles()
        .iter()
        .copied()
        .filter(|t| part.contains(&t[0]))
        .collect();

    let index =
        SurfaceIndex::new(&Mesh::from_triangles(now.to_vec(), &triangles).unwrap()).unwrap();
    let height = |p: usize| {
        let closest = index.closest_point(now[p]).unwrap();
        triangle_normal(triangles[closest.place.triangle as usize].map(|v| now[v as usize]))
            .dot(now[p] - closest.point)
    };

    points.map(height).collect()
}

fn least(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}

#[test]
fn a_sheet_that_is_pressed_onto_another_does_not_pass() {
    // For both orientations of the upper one, and whichever of the two is the finer.
    for (looks_up, cells) in [
        (false, [9, 14]),
        (true, [9, 14]),
        (false, [14, 9]),
        (true, [14, 9]),
    ] {
        let lower = sheet(cells[0], 0.0, true);
        let upper = sheet(cells[1], 0.08, looks_up);
        let mesh = joined(&lower, &upper);
        let (soft, masses) = soft_from(&mesh, lower.vertex_count());
        let mut contact = contact_of(&mesh, &soft);
        let rest = mesh.positions();
        let mut now = rest.to_vec();

        let pushed: usize = (0..10)
            .map(|_| {
                press(
                    &mut contact,
                    rest,
                    &mut now,
                    &masses,
                    |v| {
                        if soft[v] {
                            DVec3::Z * -0.004
                        } else {
                            DVec3::ZERO
                        }
                    },
                    1,
                )
            })
            .sum();

        assert!(pushed > 100, "{pushed}");
        let lowest = now[lower.vertex_count()..]
            .iter()
            .filter(|p| is_inner(p))
            .map(|p| p.z)
            .fold(f64::INFINITY, f64::min);

        let thickness = THICKNESS * contact.edge;
        assert!(
            lowest > thickness - 1e-12 && lowest < 3.0 * thickness,
            "{lowest}"
        );
        assert_eq!(now[..lower.vertex_count()], rest[..lower.vertex_count()]);
    }
}

#[test]
fn two_soft_sheets_stop_each_other_and_keep_their_momentum() {
    let lower = sheet(9, 0.0, true);
    let upper = sheet(14, 0.08, false);
    let mesh = joined(&lower, &upper);
    let first = lower.vertex_count();
    let soft = vec![true; mesh.vertex_count()];

    for uneven in [0.0, 0.5] {
        let inverse_masses: Vec<f64> = (0..soft.len())
            .map(|v| 1.0 / (1.0 + uneven * (v as f64).sin()))
            .collect();
        let mut contact = contact_of(&mesh, &soft);
        let momentum = |now: &[DVec3]| {
            now.iter()
                .zip(&inverse_masses)
                .map(|(p, w)| *p / w)
                .sum::<DVec3>()
        };

        let mut now = mesh.positions().to_vec();
        let step = |v: usize| DVec3::Z * if v < first { 0.002 } else { -0.002 };
        let added = (0..now.len())
            .map(|v| 10.0 * step(v) / inverse_masses[v])
            .sum::<DVec3>();

        for frame in 0..4 {
            let before = momentum(&now);
            let pushed = press(
                &mut contact,
                mesh.positions(),
                &mut now,
                &inverse_masses,
                step,
                20,
            );

            assert!(frame < 2 || pushed > 100, "{pushed}");
            assert!(momentum(&now).distance(before + added) < 1e-10);
        }

        let below = least(&heights(&mesh, &now, 0..first as u32, first..now.len()));
        assert!(below > -THICKNESS * contact.edge, "{below}");
    }
}

#[test]
fn skin_over_an_open_dome_stays_outside_even_where_the_dome_is_smaller_than_a_face() {
    for (looks_up, levels, radius, cells) in [
        (true, 3, 0.3, 20),
        (false, 3, 0.3, 20),
        (true, 2, 0.03, 6),
        (false, 2, 0.03, 6),
    ] {
        let dome = dome(levels, radius, DVec3::new(0.47, 0.54, 0.0));
        let edge = 1.2 / cells as f64;
        let mesh = joined(&dome, &sheet(cells, radius + 0.5 * edge, looks_up));
        let (soft, masses) = soft_from(&mesh, dome.vertex_count());
        let mut contact = contact_of(&mesh, &soft);
        let mut now = mesh.positions().to_vec();

        let mut pushed = 0;
        for _ in 0..8 {
            let step = |v: usize| {
                if soft[v] {
                    DVec3::Z * (-0.012 * edge)
                } else {
                    DVec3::ZERO
                }
            };
            pushed += press(&mut contact, mesh.positions(), &mut now, &masses, step, 4);
        }

        assert!(pushed > 10, "{pushed}");
        let inside = least(&heights(
            &mesh,
            &now,
            0..dome.vertex_count() as u32,
            dome.vertex_count()..now.len(),
        ));

        assert!(inside > -0.01 * edge, "{inside}");

        // The top is still below the skin.
        let side = if looks_up { -1.0 } else { 1.0 };
        let used = |v: &usize| !mesh.topology().vertex_triangles().row(*v).is_empty();
        let first = dome.vertex_count() as u32;
        let top = (0..dome.vertex_count())
            .filter(used)
            .max_by(|&a, &b| now[a].z.total_cmp(&now[b].z))
            .unwrap();

        let over = heights(&mesh, &now, first..now.len() as u32, top..top + 1)[0] * side;
        assert!(over > 0.0, "{over}");
    }
}

#[test]
fn overlaps_of_the_animated_shape_stay_to_the_bit_and_become_no_deeper() {
    let lower = sheet(9, 0.0, true);
    let upper = sheet(14, 0.08, false);
    let mesh = joined(&lower, &upper);
    let (soft, masses) = soft_from(&mesh, lower.vertex_count());
    let mut contact = contact_of(&mesh, &soft);

    // Bent into the lower one by up to a third of an edge.
    let depth = 0.33 * contact.edge;
    let rest: Vec<DVec3> = mesh
        .positions()
        .iter()
        .zip(&soft)
        .map(|(p, &soft)| {
            if soft {
                DVec3::new(p.x, p.y, -depth * (7.0 * p.x).cos())
            } else {
                *p
            }
        })
        .collect();

    let mut now = rest.clone();
    contact.search(&rest, &now);
    assert!(contact.pairs.len() > 200);
    assert_eq!(contact.separate(&mut now, &masses, None), 0);
    assert_eq!(now, rest);

    for _ in 0..3 {
        press(
            &mut contact,
            &rest,
            &mut now,
            &masses,
            |v| {
                if soft[v] {
                    DVec3::Z * -0.01
                } else {
                    DVec3::ZERO
                }
            },
            1,
        );
    }

    let sunk = (0..now.len())
        .filter(|&v| is_inner(&now[v]))
        .map(|v| rest[v].z.min(THICKNESS * contact.edge) - now[v].z)
        .fold(0.0, f64::max);

    assert!(sunk < 1e-12, "{sunk}");
}

#[test]
fn prongs_of_one_component_touch_and_the_two_sides_of_a_plate_do_not() {
    let fork = fork(0.3);
    let (soft, masses) = soft_from(&fork, 0);
    let mut contact = contact_of(&fork, &soft);
    let mut now = fork.positions().to_vec();
    let is_prong = |v: usize| fork.positions()[v].z > 0.4;

    let mut pushed = 0;
    for _ in 0..10 {
        let step = |v: usize| {
            if is_prong(v) {
                DVec3::X * -0.005 * fork.positions()[v].x.signum()
            } else {
                DVec3::ZERO
            }
        };
        pushed += press(&mut contact, fork.positions(), &mut now, &masses, step, 20);
    }

    assert!(pushed > 0);

    // Each came half a unit, and less was free.
    let places = fork.positions();
    let inner = |side: f64| {
        (0..now.len())
            .filter(move |&v| places[v].z > 1.0 && (0.0..0.2).contains(&(side * places[v].x)))
    };

    for v in inner(1.0) {
        let opposite = inner(-1.0)
            .find(|&w| places[v].distance(places[w]) < 0.31)
            .unwrap();
        assert!(
            now[v].x - now[opposite].x > 0.0,
            "{} {}",
            now[v],
            now[opposite]
        );
    }

    let plate = closed_box([12, 12, 1], DVec3::new(1.0, 1.0, 0.05));
    let mut contact = contact_of(&plate, &vec![true; plate.vertex_count()]);
    let swollen: Vec<DVec3> = plate
        .positions()
        .iter()
        .map(|p| *p * DVec3::new(1.0, 1.0, 2.0))
        .collect();

    for shape in [plate.positions(), &swollen] {
        contact.search(shape, &swollen);
        assert!(contact.pairs.is_empty(), "{:?}", contact.pairs[0]);
    }
}

#[test]
fn a_rotated_and_scaled_input_gives_a_rotated_and_scaled_output() {
    let lower = sheet(9, 0.0, true);
    let upper = sheet(14, 0.03, false);
    let mesh = joined(&lower, &upper);
    let (soft, masses) = soft_from(&mesh, lower.vertex_count());
    let contacts: Vec<DVec3> = (0..soft.len())
        .map(|v| {
            mesh.positions()[v]
                - if soft[v] {
                    DVec3::Z * 0.05
                } else {
                    DVec3::ZERO
                }
        })
        .collect();

    let turn = pliant_mesh::glam::DQuat::from_rotation_x(0.8)
        * pliant_mesh::glam::DQuat::from_rotation_y(0.7);
    let moved = |p: &DVec3| turn * *p * 30.0 + DVec3::new(5.0, -3.0, 2.0);
    let separated = |mesh: &Mesh, mut now: Vec<DVec3>| {
        let mut contact = contact_of(mesh, &soft);
        contact.search(mesh.positions(), &now);
        assert!(contact.separate(&mut now, &masses, None) > 100);
        now
    };

    let elsewhere = mesh
        .posed(mesh.positions().iter().map(moved).collect())
        .unwrap();
    let here = separated(&mesh, contacts.clone());
    let there = separated(&elsewhere, contacts.iter().map(moved).collect());

    assert!(
        here.iter()
            .zip(&there)
            .all(|(a, b)| moved(a).distance(*b) < 1e-9)
    );
}

#[test]
fn without_soft_vertices_there_are_no_pairs() {
    let mesh = sheet(3, 0.0, true);
    let mut contact = contact_of(&mesh, &[false; 16]);
    contact.search(mesh.positions(), mesh.positions());
    assert!(contact.vertices().is_empty());
}

/// The head of the data set and its shapes of these names; `None`, with a message, without the data.
fn head(names: &[&str]) -> Option<(Mesh, Vec<Vec<DVec3>>)> {
    let Some(data) = std::env::var_os("PLIANT_DATA") else {
        #[allow(clippy::print_stderr, reason = "a skipped test reports why")]
        {
            eprintln!("skipped: PLIANT_DATA is not set, so no head is read");
        }
        return None;
    };

    let folder = std::path::PathBuf::from(data).join("ict-facekit");
    let file = folder.join("generic_neutral_mesh.obj");
    let mesh = pliant_io::load(
        file.to_str().expect("a path in UTF-8"),
        &pliant_io::LoadOptions::default(),
    )
    .unwrap()
    .mesh()
    .unwrap();

    let targets =
        pliant_io::npy::read(&std::fs::read(folder.join("expressions.delta.npy")).unwrap())
            .unwrap();
    let rows = targets.into_point_rows("targets").unwrap();
    let listed = std::fs::read_to_string(folder.join("expressions.names.txt")).unwrap();
    let shape = |name: &&str| {
        let row = &rows[listed.lines().position(|line| line == *name).unwrap()];
        mesh.positions()
            .iter()
            .zip(row)
            .map(|(p, d)| *p + *d)
            .collect()
    };

    let shapes = names.iter().map(shape).collect();
    Some((mesh, shapes))
}

/// Skin of the head within a distance of a place.
fn skin_around(mesh: &Mesh, place: DVec3, radius: f64) -> Vec<bool> {
    let components = mesh.topology().component_of_vertex();
    mesh.positions()
        .iter()
        .zip(components)
        .map(|(p, &part)| part == components[0] && p.distance(place) < radius)
        .collect()
}

#[test]
fn an_animated_head_does_not_change_and_pressed_skin_hardly_penetrates() {
    let names = [
        "jawOpen",
        "mouthClose",
        "mouthPucker",
        "mouthPress_L",
        "eyeBlink_L",
        "mouthRollLower",
    ];

    let Some((mesh, shapes)) = head(&names) else {
        return;
    };

    for (place, radius) in [
        (DVec3::new(0.0, -3.0, 11.5), 3.0),
        (DVec3::new(3.1, 3.6, 9.6), 2.0),
    ] {
        let soft = skin_around(&mesh, place, radius);
        let masses: Vec<f64> = soft
            .iter()
            .map(|&soft| if soft { 1.0 } else { 0.0 })
            .collect();

        let mut contact = contact_of(&mesh, &soft);
        for rest in shapes.iter().map(Vec::as_slice).chain([mesh.positions()]) {
            let mut now = rest.to_vec();
            contact.search(rest, &now);
            assert!(contact.pairs.len() > 200, "{}", contact.pairs.len());
            assert_eq!(contact.separate(&mut now, &masses, None), 0);
            assert!(now == rest);

            // Pushed into the head by an edge, skin meets what is below it, here and there from
            // both sides.
            let edge = contact.edge;
            let step = |v: usize| DVec3::Z * (-0.1 * edge * masses[v]);
            let pushed = press(&mut contact, rest, &mut now, &masses, step, 20);
            let freely: Vec<DVec3> = (0..now.len()).map(|v| rest[v] + 10.0 * step(v)).collect();

            let depth = |now: &[DVec3]| {
                contact
                    .pairs
                    .iter()
                    .map(|pair| (pair.least_gap - pair.gap(now).1).max(0.0))
                    .sum::<f64>()
            };

            assert!(
                pushed > 0 && depth(&now) < 0.1 * depth(&freely),
                "{pushed}: {} {}",
                depth(&now),
                depth(&freely)
            );
        }
    }
}
