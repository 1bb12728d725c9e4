//! Table 3.1 and figure 3.5: geodesic circles, the support of a pin.

use pliant_mesh::{
    ExactGeodesics, HeatGeodesics, HeatOptions, HeatTriangulation, HeatVariant, HeatWorkspace,
    MeshError, SurfacePoint,
};
use pliant_view::{Color, Image, Look, Marker, Shot, Stroke};
use web_time::Instant;

use super::numerals::{Quartiles, file_stem, gap, grouped, rounded, row};
use super::pictures::VIEW;
use super::pictures::level_segments;
use super::subject::Subject;
use super::{Model, ReproduceError, face_box, face_diagonal, moving_vertices, spread_pins};
use crate::page::{Axis, Marks, Plot, Section, Series, Table};

/// *Çetinaslan 2016*, table 3.1: the radii of both circles in the units of the models, which are
/// unknown. *Chosen*: in tenths of the diagonal of the moving part.
const RADII: [f64; 2] = [0.1, 0.5];
/// Timed pins on each model.
const PINS: usize = 24;
/// Pins in a picture.
const SHOWN: usize = 5;

/// A row of *Çetinaslan 2016*, table 3.1.
struct Published {
    model: &'static str,
    vertices: usize,
    edges: usize,
    targets: usize,
    heat_ms: f64,
}

/// *Çetinaslan 2016*, table 3.1. Edges are those of the triangulation.
const PUBLISHED: [Published; 2] = [
    Published {
        model: "thesis, Face 1",
        vertices: 6720,
        edges: 19_984,
        targets: 40,
        heat_ms: 15.0,
    },
    Published {
        model: "thesis, Face 2",
        vertices: 9562,
        edges: 28_416,
        targets: 18,
        heat_ms: 20.0,
    },
];

/// Times and errors on one model.
struct CircleMeasurement {
    factor_ms: f64,
    heat_ms: Quartiles,
    circle_ms: Quartiles,
    circle_vertices: usize,
    /// Mean error of the heat method within the circle, relative to its radius: Crane et al. 2013,
    /// and ours.
    errors: [f64; 2],
}

pub(super) fn section(subjects: &[Subject<'_>]) -> Result<Section, ReproduceError> {
    let mut section = Section::new(
        "The support of a pin",
        "Table 3.1 and figure 3.5: a pin moves only the sliders that matter near it, measured \
         along the surface. The thesis computes two circles around every pin by the heat method.",
    );
    let models: Vec<&Model> = subjects.iter().map(|subject| subject.model).collect();

    let measured: Vec<CircleMeasurement> = models
        .iter()
        .map(|model| measure(model))
        .collect::<Result<_, _>>()?;

    for (model, measured) in models.iter().zip(&measured) {
        section.figure(
            &format!("{}, per pin", model.name),
            format!("{} ms", rounded(measured.heat_ms.median)),
        );
    }

    section.table(table(&models, &measured));
    section.plot(
        plot(&models, &measured),
        "Time per pin over the size of the mesh; whiskers show the quartiles of all pins.",
    );

    section.paragraph(
        "Inner and outer circles in the thesis' ratio of 0.1 : 0.5, here in tenths of the \
         diagonal of the moving part. Yellow vertices support the pin in the centre. The circles \
         are exact: a circle is only a few edges wide, and the heat method is least accurate near \
         its source.",
    );

    for subject in subjects {
        section.small(
            &format!("circles-{}.png", file_stem(subject.name())),
            &format!("{}.", subject.name()),
            &picture(subject)?,
        )?;
    }

    Ok(section)
}

fn measure(model: &Model) -> Result<CircleMeasurement, ReproduceError> {
    try_measure(model).map_err(|source| ReproduceError::Mesh {
        model: model.name.clone(),
        source,
    })
}

fn try_measure(model: &Model) -> Result<CircleMeasurement, MeshError> {
    let mesh = model.rig.neutral();
    let radius = radii(model)[1];
    let pins = spread_pins(model, PINS);
    let began = Instant::now();
    let heat = HeatGeodesics::factor(mesh, &HeatOptions::default())?;
    let factor_ms = began.elapsed().as_secs_f64() * 1e3;

    // Crane et al. 2013: no correction near the source, and the authored triangulation.
    let as_published = HeatOptions::default()
        .with_variant(HeatVariant::Published)
        .with_triangulation(HeatTriangulation::AsAuthored);
    let as_published = HeatGeodesics::factor(mesh, &as_published)?;
    let mut exact = ExactGeodesics::new(mesh)?;
    let mut workspace = HeatWorkspace::default();
    let mut distances = vec![0.0; mesh.vertex_count()];
    let mut heat_ms = Vec::new();
    let mut circle_ms = Vec::new();
    let mut sizes = Vec::new();
    let mut errors = [0.0; 2];

    for (k, &pin) in pins.iter().chain(pins.first()).enumerate() {
        let began = Instant::now();
        heat.distances_into(&[pin], &mut workspace, &mut distances)?;
        let heat_took = began.elapsed().as_secs_f64() * 1e3;
        let began = Instant::now();
        let circle = exact.disc(&[pin], radius)?;
        let circle_took = began.elapsed().as_secs_f64() * 1e3;

        if k == 0 {
            continue; // The first pin warms the caches and is repeated at the end.
        }

        heat_ms.push(heat_took);
        circle_ms.push(circle_took);
        sizes.push(circle.vertices.len());

        // Errors are measured inside the circle only, where pins use the distances.
        let published = as_published.distances(&[pin])?;
        let scale = circle.vertices.len().max(1) as f64 * radius * pins.len() as f64;
        for (error, found) in errors.iter_mut().zip([&published, &distances]) {
            *error += total_error(&circle.vertices, &circle.distances, found) / scale;
        }
    }

    // The median, since the density of vertices differs over a face.
    sizes.sort_unstable();
    let circle_vertices = sizes.get(sizes.len() / 2).copied().unwrap_or(0);
    Ok(CircleMeasurement {
        factor_ms,
        heat_ms: Quartiles::of(heat_ms),
        circle_ms: Quartiles::of(circle_ms),
        circle_vertices,
        errors,
    })
}

/// The sum of the absolute errors of `distances` in a circle.
fn total_error(vertices: &[u32], exact: &[f64], distances: &[f64]) -> f64 {
    vertices
        .iter()
        .zip(exact)
        .map(|(&v, exact)| (distances[v as usize] - exact).abs())
        .sum()
}

/// The radii of both circles on one model, in its units.
fn radii(model: &Model) -> [f64; 2] {
    RADII.map(|radius| 0.1 * radius * face_diagonal(model))
}

fn table(models: &[&Model], measured: &[CircleMeasurement]) -> Table {
    let caption = format!(
        "Medians of {PINS} pins spread over the moving part, on this machine; the times of the \
         thesis are of its own. The heat method computes the whole mesh after one factorisation; \
         the exact circle computes only its inside. Errors are means within the outer circle, in \
         % of its radius: of the heat method of Crane et al. 2013, and of ours, which uses exact \
         distances near the pin."
    );

    let mut table = Table::new(
        caption,
        [
            "model",
            "vertices",
            "edges",
            "targets",
            "factor once, ms",
            "heat, ms",
            "exact circle, ms",
            "vertices in it",
            "error published, %",
            "error ours, %",
        ],
    );

    for (model, found) in models.iter().zip(measured) {
        let mesh = model.rig.neutral();
        let counts = [
            mesh.vertex_count(),
            mesh.topology().edges().len(),
            model.rig.targets().len(),
        ]
        .map(grouped);
        let times = [
            found.factor_ms,
            found.heat_ms.median,
            found.circle_ms.median,
        ]
        .map(rounded);
        let circle = [
            grouped(found.circle_vertices),
            rounded(100.0 * found.errors[0]),
            rounded(100.0 * found.errors[1]),
        ];
        let cells = counts.into_iter().chain(times).chain(circle);
        table.push(row(&model.name, cells));
    }

    for published in PUBLISHED {
        let counts = [published.vertices, published.edges, published.targets].map(grouped);
        let times = [
            gap(),
            rounded(published.heat_ms),
            gap(),
            gap(),
            gap(),
            gap(),
        ];
        table.push_quoted(row(published.model, counts.into_iter().chain(times)));
    }

    table
}

fn plot(models: &[&Model], measured: &[CircleMeasurement]) -> Plot {
    let sizes: Vec<f64> = models
        .iter()
        .map(|model| model.rig.neutral().vertex_count() as f64)
        .collect();

    let series = |name: &str, times: &dyn Fn(&CircleMeasurement) -> Quartiles| {
        let points = sizes
            .iter()
            .zip(measured)
            .map(|(&size, found)| [size, times(found).median]);
        let spans = measured
            .iter()
            .map(|found| [times(found).low, times(found).high]);
        Series::new(name, Marks::Points, points).with_intervals(spans)
    };

    let names = models.iter().map(|model| model.name.as_str());
    let published = PUBLISHED
        .iter()
        .map(|row| [row.vertices as f64, row.heat_ms]);

    Plot::new(
        "One pin",
        Axis::logarithmic("vertices"),
        Axis::logarithmic("time, ms"),
    )
    .with_series(series("heat, whole mesh", &|found| found.heat_ms).with_labels(names))
    .with_series(
        Series::new("thesis, 2016", Marks::Points, published)
            .with_labels(PUBLISHED.map(|row| row.model)),
    )
    .with_series(series("exact, circle only", &|found| found.circle_ms))
    .with_size([760, 400])
}

/// The face with both circles around a few pins.
fn picture(subject: &Subject<'_>) -> Result<Image, ReproduceError> {
    let model = subject.model;
    let failed = |source| subject.mesh_error(source);
    let mesh = model.rig.neutral();
    let [inner, outer] = radii(model);
    let mut scene = Look::default().scene(mesh);

    let mut exact = ExactGeodesics::new(mesh).map_err(failed)?;
    for pin in visible_pins(subject) {
        // Beyond the circle, so that the distances of all triangles that it crosses are known.
        let distances = exact
            .disc(&[SurfacePoint::Vertex(pin)], 2.0 * outer)
            .map_err(failed)?
            .to_dense(mesh.vertex_count());

        for (radius, color) in [
            (inner, Color::srgb8(206, 62, 48)),
            (outer, Color::srgb8(32, 104, 176)),
        ] {
            let segments = level_segments(mesh, &distances, radius);
            scene
                .strokes
                .extend(segments.into_iter().map(|ends| Stroke {
                    points: ends.to_vec(),
                    color,
                    width_px: 2.0,
                }));
        }

        // The vertices of the outer circle, without the pin itself.
        let support =
            (0..mesh.vertex_count()).filter(|&v| distances[v] <= outer && distances[v] > 0.0);
        let dot = |v: usize| Marker {
            position: mesh.positions()[v],
            color: Color::srgb8(240, 190, 40),
            radius_px: 1.8,
        };

        scene.markers.extend(support.map(dot));
        scene.markers.push(Marker {
            radius_px: 4.0,
            ..Marker::new(mesh.positions()[pin as usize])
        });
    }

    Ok(Shot::new(VIEW, [540, 540]).framed_by(&face_box(model), &scene)?)
}

/// Some of the vertices that move most, far apart from each other and visible.
fn visible_pins(subject: &Subject<'_>) -> Vec<u32> {
    let reach = &subject.reach;
    let places = subject.model.rig.neutral().positions();
    // Two outer circles and a gap between two pins.
    let apart = 4.0 * radii(subject.model)[1];
    let mut moving = moving_vertices(subject.model);
    moving.sort_by(|&a, &b| reach[b as usize].total_cmp(&reach[a as usize]));

    let mut pins: Vec<u32> = Vec::new();
    for v in moving {
        let is_apart = pins
            .iter()
            .all(|&pin| places[pin as usize].distance(places[v as usize]) > apart);

        if is_apart && subject.sees(v) {
            pins.push(v);
        }
        if pins.len() == SHOWN {
            break;
        }
    }

    pins
}
