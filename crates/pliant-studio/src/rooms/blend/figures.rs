//! What shrank, what stretched and what is inside something: the numbers under the pictures.

use eframe::egui::{Grid, RichText, Ui};
use pliant::mesh::Mesh;
use pliant::physics::Obstacle;

use super::balance::Balanced;

/// A blend in a few numbers.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Figures {
    /// Its area as a share of the shapes', weighted as they are.
    pub area: f64,
    /// The same of its volume; `None` where the shapes enclose none.
    pub volume: Option<f64>,
    /// The mean of how far vertices are stretched or pressed, whichever way.
    pub strain: f64,
    /// How deep a vertex is inside an obstacle, at most.
    pub depth: f64,
    /// Vertices inside obstacles, deeper than touching.
    pub inside: usize,
}

/// Deeper than this part of the mean edge is inside, less is touching.
const TOUCHING: f64 = 1e-3;

impl Figures {
    /// The figures of a shape with the strains of its vertices; `sizes` are area and volume of the shapes it is blended from.
    #[must_use]
    pub fn of(mesh: &Mesh, strains: &[f64], weights: &[f64], sizes: &[[f64; 2]], obstacles: &[Obstacle]) -> Self {
        let mean = |k: usize| weights.iter().zip(sizes).map(|(weight, size)| weight * size[k]).sum::<f64>();
        let closed = mesh.topology().is_closed() && mean(1) != 0.0;
        let touching = TOUCHING * mesh.mean_edge_length();
        let contacts = obstacles.iter().flat_map(|obstacle| obstacle.contacts(mesh.positions(), 0.0));
        let depths: Vec<f64> = contacts.map(|contact| contact.depth).filter(|depth| *depth > touching).collect();
        Self {
            area: mesh.area() / mean(0),
            volume: closed.then(|| mesh.signed_volume() / mean(1)),
            strain: strains.iter().map(|strain| strain.abs()).sum::<f64>() / strains.len().max(1) as f64,
            depth: depths.iter().copied().fold(0.0, f64::max),
            inside: depths.len(),
        }
    }
}

/// A table: both ways to blend side by side.
pub(super) fn figures_ui(ui: &mut Ui, balanced: &Balanced, obstructed: bool) {
    let (linear, physical) = (&balanced.linear.figures, &balanced.physical.figures);
    Grid::new("figures").num_columns(3).striped(true).min_col_width(76.0).show(ui, |ui| {
        ui.label("");
        ui.strong("Linear");
        ui.strong("Physical");
        ui.end_row();
        if let (Some(a), Some(b)) = (linear.volume, physical.volume) {
            row_ui(ui, "Volume", "Of the shapes' volume, weighted as they are", [kept(a), kept(b)]);
        }
        row_ui(ui, "Area", "Of the shapes' area, weighted as they are", [kept(linear.area), kept(physical.area)]);
        let strain = |strain: f64| Cell { text: format!("{:.2} %", 100.0 * strain), bad: strain > 0.02 };
        row_ui(ui, "Strain", "How far edges are from their blended lengths, on average", [strain(linear.strain), strain(physical.strain)]);
        if obstructed {
            let depth =
                |f: &Figures| Cell { text: if f.inside == 0 { "none".into() } else { format!("{:.3}", f.depth) }, bad: f.inside > 0 };
            row_ui(ui, "Penetration", "How deep the shape is inside obstacles", [depth(linear), depth(physical)]);
        }
    });
}

struct Cell {
    text: String,
    bad: bool,
}

/// A share that should be the whole.
fn kept(share: f64) -> Cell {
    Cell { text: format!("{:.1} %", 100.0 * share), bad: (share - 1.0).abs() > 0.02 }
}

fn row_ui(ui: &mut Ui, name: &str, hint: &str, cells: [Cell; 2]) {
    ui.label(name).on_hover_text(hint);
    for cell in cells {
        let text = RichText::new(cell.text).monospace();
        ui.label(if cell.bad { text.color(ui.visuals().warn_fg_color) } else { text });
    }
    ui.end_row();
}

/// What the last solve did, in one line or a few.
pub(super) fn report_ui(ui: &mut Ui, balanced: &Balanced) {
    let frame = &balanced.frame;
    let state = if frame.converged { "In balance" } else { "Not quite in balance" };
    ui.label(format!("{state} after {} steps, {:.0} ms", frame.iterations, 1e3 * frame.secs));
    if frame.contacts > 0 {
        ui.label(format!("{} vertices touch obstacles", frame.contacts));
    }
    if frame.self_contacts > 0 {
        ui.label(format!("{} places where the surface touches itself", frame.self_contacts));
    }
    if frame.inverted > 0 {
        ui.label(format!("{} elements inside turned over; volume in More keeps them", frame.inverted));
    }
    if let Some(cage) = balanced.ground.cage {
        ui.label(format!("On a cage of {cage} vertices"));
    }
    for note in &balanced.ground.notes {
        ui.weak(note);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant::mesh::glam::DVec3;
    use pliant::mesh::shapes::closed_box;

    #[test]
    fn a_box_that_shrank_evenly_lost_its_square_of_area_and_its_cube_of_volume() {
        let whole = closed_box([4, 3, 2], DVec3::new(2.0, 1.5, 1.0));
        let shrunk = whole.posed(whole.positions().iter().map(|p| *p * 0.5).collect()).unwrap();
        let sizes = [[whole.area(), whole.signed_volume()]; 2];
        let figures = Figures::of(&shrunk, &[-0.5, 0.5], &[0.25, 0.75], &sizes, &[]);
        assert!((figures.area - 0.25).abs() < 1e-12 && (figures.volume.unwrap() - 0.125).abs() < 1e-12);
        assert_eq!((figures.strain, figures.depth, figures.inside), (0.5, 0.0, 0));
    }

    #[test]
    fn vertices_on_an_obstacle_touch_it_and_those_within_are_inside() {
        let cube = closed_box([1, 1, 1], DVec3::ONE);
        let sizes = [[cube.area(), cube.signed_volume()]];
        let corner = cube.positions()[0];
        let figures = |radius: f64, away: f64| {
            let ball = Obstacle::sphere(corner + corner.normalize_or(DVec3::X) * away, radius).unwrap();
            Figures::of(&cube, &[0.0; 8], &[1.0], &sizes, &[ball])
        };
        assert_eq!(figures(0.1, 0.1).inside, 0);
        let inside = figures(0.1, 0.04);
        assert!(inside.inside == 1 && (inside.depth - 0.06).abs() < 1e-9, "{inside:?}");
    }
}
