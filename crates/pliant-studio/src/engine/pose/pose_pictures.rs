//! Pictures of poses and of what a slider does, rendered beside the window.

use std::sync::Arc;

use pliant::mesh::Bounds;
use pliant::mesh::glam::DVec3;
use pliant::pictures::{Look, Shot};
use pliant::rig::Rig;
use pliant::view::{Ground, Image, View};

use crate::engine::context::Cx;
use crate::engine::library::LoadedAsset;
use crate::engine::surface::Surface;
use crate::engine::work::{Task, Watch};
use crate::model::document::Weights;
use crate::model::names::to_message;

/// From the front, a little from the side and from above.
const VIEW: View = View::Orbit {
    azimuth_rad: 0.35,
    elevation_rad: 0.15,
};
/// More pictures than this are forgotten and rendered again.
const MOST: usize = 400;
/// Chosen: around what a slider moves, this share of its size shows where on the face it is.
const MARGIN: f64 = 0.6;
/// Vertices that move less than this share of the largest displacement do not count.
const LEAST: f64 = 0.1;

/// What a picture shows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PictureKey {
    /// The weights; all other sliders are at zero.
    pub weights: Weights,
    /// Only the part that these weights move, instead of all that sliders move.
    pub close: bool,
    /// The side in pixels.
    pub side: usize,
}

/// A picture, and a number by which the window keeps its texture.
#[derive(Debug, Clone)]
pub(crate) struct PosePicture {
    pub id: u64,
    key: PictureKey,
    /// `None` for one that could not be rendered.
    pub image: Option<Arc<Image>>,
}

/// What was asked for, and its picture if there is one.
type Rendered = (PictureKey, Option<Image>);

/// The pictures of one character.
#[derive(Default)]
pub(crate) struct PosePictures {
    of: Option<(Arc<Surface>, usize)>,
    task: Option<Task<Vec<Rendered>>>,
    made: Vec<PosePicture>,
    wanted: Vec<PictureKey>,
    count: u64,
    /// Whether rendering failed as a whole: pictures are not asked for again.
    failed: bool,
}

impl PosePictures {
    /// Fetches results, and starts what was asked for in the last frame.
    pub(crate) fn update(&mut self, cx: &mut Cx<'_>) {
        let Some(posed) = cx.posed else {
            self.wanted.clear();
            return;
        };
        let subject = (posed.surface.clone(), posed.rig.targets().len());
        let same = |(surface, count): &(Arc<Surface>, usize)| {
            Arc::ptr_eq(surface, &subject.0) && *count == subject.1
        };
        if !self.of.as_ref().is_some_and(same) {
            *self = Self {
                of: Some(subject),
                count: self.count,
                ..Self::default()
            };
        }

        // A character that cannot be rendered has no pictures; its names are enough.
        match Task::finished(&mut self.task) {
            Some(Ok(made)) => {
                for (key, image) in made {
                    self.count += 1;
                    let id = self.count;
                    let image = image.map(Arc::new);
                    self.made.push(PosePicture { id, key, image });
                }
            }
            Some(Err(_)) => self.failed = true,
            None => {}
        }

        let wanted = std::mem::take(&mut self.wanted);
        if wanted.is_empty() || self.task.is_some() || self.failed {
            return;
        }
        if self.made.len() > MOST {
            self.made.clear();
        }
        let Some(loaded) = cx.library.ready(&posed.asset) else {
            return;
        };
        let rig = posed.rig.clone();
        let work = move |watch: &Watch| Ok(render(&loaded, &rig, wanted, watch));
        self.task = Some(Task::start("Pictures of poses", cx.wake.clone(), work));
    }

    /// The picture, if it is there; otherwise it is rendered.
    pub(crate) fn get(&mut self, key: &PictureKey) -> Option<PosePicture> {
        let known = self.made.iter().find(|picture| picture.key == *key);
        if known.is_none() && !self.failed && !self.wanted.contains(key) {
            self.wanted.push(key.clone());
        }
        known.cloned()
    }

    /// Whether pictures are still to come.
    pub(crate) fn busy(&self) -> bool {
        self.task.is_some() || !self.wanted.is_empty()
    }
}

fn render(
    loaded: &LoadedAsset,
    rig: &Rig,
    wanted: Vec<PictureKey>,
    watch: &Watch,
) -> Vec<Rendered> {
    let (materials, _) = pliant::pictures::materials(&loaded.asset, rig.neutral());
    let look = Look::default().with_materials(materials);
    let whole = framed_points(rig, (0..rig.targets().len()).collect());

    let mut made = Vec::with_capacity(wanted.len());
    for key in wanted {
        if watch.cancelled() {
            break;
        }
        let image = picture(rig, &look, &whole, &key);
        made.push((key, image.ok()));
    }
    made
}

fn picture(rig: &Rig, look: &Look, whole: &[DVec3], key: &PictureKey) -> Result<Image, String> {
    let targets = rig.targets();
    let weights: Vec<f64> = targets
        .iter()
        .map(|target| key.weights.get(&target.name).copied().unwrap_or(0.0))
        .collect();
    let pose = rig.neutral().posed(rig.evaluate(&weights));
    let pose = pose.map_err(to_message)?;

    let moved = (0..targets.len()).filter(|&k| weights[k] != 0.0).collect();
    let close = key.close.then(|| framed_points(rig, moved));
    let mut scene = look.scene(&pose);
    scene.backdrop.ground = Ground::None;
    Shot::new(VIEW, [key.side; 2])
        .framed_by(close.as_deref().unwrap_or(whole), &scene)
        .map_err(to_message)
}

/// The corners of a box around what targets move, with a margin; around the mesh if they move
/// nothing.
fn framed_points(rig: &Rig, targets: Vec<usize>) -> Vec<DVec3> {
    let neutral = rig.neutral().positions();
    let mut places = Vec::new();
    for k in targets {
        let target = &rig.targets()[k];
        let lengths = target.deltas.iter().map(|delta| f64::from(delta.length()));
        let largest = lengths.clone().fold(0.0, f64::max);
        let moved = target.vertices.iter().zip(lengths);
        places.extend(
            moved
                .filter(|(_, length)| *length > LEAST * largest)
                .map(|(&vertex, _)| neutral[vertex as usize]),
        );
    }

    let Some(bounds) = Bounds::of(&places).filter(|bounds| bounds.diagonal() > 0.0) else {
        return neutral.to_vec();
    };
    let margin = DVec3::splat(0.5 * MARGIN * bounds.size().max_element());
    let [low, high] = [bounds.min - margin, bounds.max + margin];
    let corner = |k: u32| {
        let pick = |axis: u32, low: f64, high: f64| if k >> axis & 1 == 0 { low } else { high };
        DVec3::new(
            pick(0, low.x, high.x),
            pick(1, low.y, high.y),
            pick(2, low.z, high.z),
        )
    };
    (0..8).map(corner).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_close_picture_shows_what_the_slider_moves() {
        let rig = pliant::load("specimen:head").unwrap().rig().unwrap();
        let slider = |name: &str| rig.slider_named(name).unwrap().index();
        let bounds = |points: &[DVec3]| Bounds::of(points).unwrap();

        let blink = bounds(&framed_points(&rig, vec![slider("eyeBlinkLeft")]));
        let jaw = bounds(&framed_points(&rig, vec![slider("jawOpen")]));
        assert!(blink.diagonal() < 0.5 * jaw.diagonal());
        assert!(blink.min.x > jaw.min.x && blink.min.y > jaw.min.y);

        // All sliders together move more than any of them, and less than the whole head.
        let all = bounds(&framed_points(&rig, (0..rig.targets().len()).collect()));
        assert!(all.diagonal() >= jaw.diagonal());
    }
}
