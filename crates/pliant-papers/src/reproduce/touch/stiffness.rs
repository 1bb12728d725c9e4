//! Beyond the thesis: dependence of stiffness on steps and iterations.

use pliant_mesh::glam::DVec3;
use pliant_mesh::{Mesh, shapes, vertex_normals};
use pliant_physics::{
    PhysicsError, SoftMaterial, SoftPatch, Touch, TouchFrame, TouchMethod, TouchOptions,
    VerletOptions,
};

use super::numerals::{greatest, least, rounded};
use super::{CHEEK, Models, ReproduceError, failed};
use crate::page::{Axis, Marks, Plot, Section, Series, Table};

/// The method of the thesis, and ours without and with flesh that keeps its volume.
const METHODS: [&str; 3] = ["verlet", "XPBD, skin", "XPBD, flesh"];
const STEPS: [usize; 3] = [5, 10, 20];
const ITERATIONS: [usize; 3] = [1, 2, 5];
/// Quads along a sheet that is one long.
const CELLS: usize = 24;
/// In units per second squared: a sheet of ten centimetres, and a head in centimetres.
const GRAVITY: [f64; 2] = [98.1, 981.0];
/// Frames until everything is at rest.
const FRAMES: usize = 120;
const FRAME_SECS: f64 = 1.0 / 60.0;
/// Damping of the thesis' method with which it is at rest after that time at every step count.
const DAMPING: f64 = 0.02;

/// Sags by steps and by iterations.
type Sags = [[f64; 3]; 3];

/// A patch that sags under its weight.
struct SaggingPatch<'a> {
    mesh: &'a Mesh,
    patch: SoftPatch,
    gravity: DVec3,
}

pub(super) fn section(models: &Models) -> Result<Section, ReproduceError> {
    let mut section = Section::new(
        "Beyond: stiffness that is a property of the skin",
        "A round patch of a flat sheet sags under its weight. Projections, as in the thesis, \
         become stiffer with more steps and iterations, so that a better solution is a different \
         material. Compliant constraints converge to the given material. Skin on its foundation \
         has converged with five substeps of one iteration. Flesh that keeps its volume, our \
         default, is the stiffest part and needs more. The cheek of a head that lies on its back \
         shows this: its weight presses the cheek inwards, and with few substeps the cheek is \
         softer than it should be. Our default is therefore twenty substeps or more.",
    );

    let sheet = shapes::flat_sheet(CELLS, 0.0);
    let sheet = SaggingPatch {
        mesh: &sheet,
        patch: SoftPatch {
            center: ((CELLS + 1) * (CELLS + 1) / 2).into(),
            radius: 0.42,
        },
        gravity: DVec3::NEG_Z * GRAVITY[0],
    };

    // The default material keeps the volume of its flesh; without it, only skin is left.
    let flesh = SoftMaterial::default().volume;
    let sags = [
        each(|steps, iterations| sheet.by_verlet(steps, iterations)).map_err(failed("sheet"))?,
        each(|steps, iterations| sheet.by_xpbd(0.0, steps, iterations)).map_err(failed("sheet"))?,
        each(|steps, iterations| sheet.by_xpbd(flesh, steps, iterations))
            .map_err(failed("sheet"))?,
    ];

    // The head lies on its back: gravity points into the cheek.
    let head = models.head.neutral();
    let cheek = SaggingPatch {
        mesh: head,
        patch: CHEEK,
        gravity: vertex_normals(head)[CHEEK.center.index()] * -GRAVITY[1],
    };

    let of_cheek = each(|steps, iterations| cheek.by_xpbd(flesh, steps, iterations))
        .map_err(failed("head"))?;
    for (name, sags) in METHODS.iter().zip(&sags) {
        section.figure(
            &format!("{name}: most over least sag"),
            format!("{} times", rounded(ratio(sags))),
        );
    }

    section.figure(
        "cheek: most over least sag",
        format!("{} times", rounded(ratio(&of_cheek))),
    );

    section.figure(
        "cheek: default over converged",
        format!("{} times", rounded(of_cheek[2][0] / of_cheek[2][2])),
    );
    section.table(table(&sags, &of_cheek));
    section.plot(
        plot(&sags, &of_cheek),
        "Sag over the product of steps and iterations. A horizontal series is a material; a \
         falling one depends on the settings.",
    );

    Ok(section)
}

/// The sag with every number of steps and of iterations.
fn each(sag: impl Fn(usize, usize) -> Result<f64, PhysicsError>) -> Result<Sags, PhysicsError> {
    let mut sags = Sags::default();
    for (row, steps) in sags.iter_mut().zip(STEPS) {
        for (found, iterations) in row.iter_mut().zip(ITERATIONS) {
            *found = sag(steps, iterations)?;
        }
    }
    Ok(sags)
}

impl SaggingPatch<'_> {
    fn by_xpbd(&self, volume: f64, steps: usize, iterations: usize) -> Result<f64, PhysicsError> {
        let material = SoftMaterial {
            volume,
            ..SoftMaterial::default()
        };
        self.sag(
            TouchOptions::default()
                .with_material(material)
                .with_substeps(steps)
                .with_iterations(iterations),
            1,
        )
    }

    /// The thesis has one step per frame, so shorter frames are more steps.
    fn by_verlet(&self, steps: usize, iterations: usize) -> Result<f64, PhysicsError> {
        let verlet = VerletOptions::default()
            .with_damping(DAMPING)
            .with_iterations(iterations);
        self.sag(
            TouchOptions::default().with_method(TouchMethod::Verlet(verlet)),
            steps,
        )
    }

    /// The largest sag at rest, in % of the radius, with every frame divided into `cuts`.
    fn sag(&self, options: TouchOptions, cuts: usize) -> Result<f64, PhysicsError> {
        let mut touch = Touch::new(
            self.mesh,
            &[self.patch],
            &options.with_gravity(self.gravity),
        )?;

        let mut sag = 0.0;
        for _ in 0..FRAMES * cuts {
            let frame = TouchFrame {
                shape: None,
                colliders: &[],
                pulls: &[],
                secs: FRAME_SECS / cuts as f64,
            };
            // The last value counts: by then the patch is at rest.
            sag = touch.step(&frame)?.max_displacement;
        }

        Ok(100.0 * sag / self.patch.radius)
    }
}

fn ratio(sags: &Sags) -> f64 {
    let all = || sags.iter().flatten().copied();
    greatest(all()) / least(all())
}

/// The sags of the sheet by each method and those of the cheek, with their names.
fn named<'a>(
    sags: &'a [Sags; 3],
    of_cheek: &'a Sags,
) -> impl Iterator<Item = (&'static str, &'a Sags)> {
    METHODS.into_iter().zip(sags).chain([("cheek", of_cheek)])
}

fn table(sags: &[Sags; 3], of_cheek: &Sags) -> Table {
    let caption = format!(
        "The largest sag after {:.0} s, in % of the radius, by steps in a frame of 1/60 s and \
         iterations in a step (1, 2 and 5): of the sheet by the method of the thesis, by ours \
         without and with flesh that keeps its volume; and of the cheek by our default.",
        FRAMES as f64 * FRAME_SECS
    );
    let columns = named(sags, of_cheek)
        .flat_map(|(name, _)| ITERATIONS.map(|count| format!("{name}, {count}")));

    let mut table = Table::new(caption, ["steps".to_owned()].into_iter().chain(columns));
    for (i, steps) in STEPS.iter().enumerate() {
        table.push(
            [steps.to_string()]
                .into_iter()
                .chain(named(sags, of_cheek).flat_map(|(_, sags)| sags[i].map(rounded))),
        );
    }

    table
}

fn plot(sags: &[Sags; 3], of_cheek: &Sags) -> Plot {
    let mut plot = Plot::new(
        "Sag",
        Axis::logarithmic("sweeps in a frame"),
        Axis::logarithmic("sag, % of the radius"),
    );

    for (name, sags) in named(sags, of_cheek) {
        let points = STEPS.iter().zip(sags).flat_map(|(steps, sags)| {
            ITERATIONS
                .iter()
                .zip(sags)
                .map(move |(iterations, sag)| [(steps * iterations) as f64, *sag])
        });
        plot = plot.with_series(Series::new(name, Marks::Points, points));
    }

    plot.with_size([760, 400])
}
