//! Figure 11: a face that speaks with different emotions.

use pliant_linalg::smoothstep;
use std::borrow::Cow;

use pliant_io::{Animation, Asset};
use pliant_mesh::glam::DVec3;
use pliant_rig::{Clip, Rig};
use pliant_transfer::{
    Layer, Source, Synthesis, SynthesisOptions, TransferError, TriangleMap, blend_weights,
    geodesic_band,
};
use pliant_view::{ContactSheet, Ground, Image, Look, Scene, Shot};

use super::{FACE, Models, ReproduceError, blended, failed};
use crate::page::Section;

const SIZE: [usize; 2] = [255, 270];
const LARGE: [usize; 2] = [500, 520];

/// Sliders of an expression; a name means the target itself, or its `Left` and `Right` together.
type Expression = (&'static str, &'static [(&'static str, f64)]);

const EMOTIONS: [Expression; 3] = [
    (
        "happy",
        &[
            ("mouthSmile", 0.9),
            ("cheekSquint", 0.8),
            ("eyeSquint", 0.35),
            ("browInnerUp", 0.3),
            ("browOuterUp", 0.25),
        ],
    ),
    (
        "angry",
        &[
            ("browDown", 1.0),
            ("noseSneer", 0.7),
            ("eyeSquint", 0.5),
            ("mouthFrown", 0.5),
            ("mouthPress", 0.4),
        ],
    ),
    (
        "crying",
        &[
            ("browInnerUp", 1.0),
            ("eyeBlink", 0.35),
            ("cheekSquint", 0.4),
            ("mouthFrown", 0.9),
            ("mouthShrugLower", 0.5),
        ],
    ),
];
const SPEECH: [Expression; 3] = [
    ("ah", &[("jawOpen", 0.6)]),
    ("oh", &[("jawOpen", 0.3), ("mouthFunnel", 0.9)]),
    (
        "ee",
        &[
            ("jawOpen", 0.12),
            ("mouthStretch", 0.9),
            ("mouthLowerDown", 0.5),
            ("mouthUpperUp", 0.3),
        ],
    ),
];

/// The head, and the weight of the mouth's animation on every triangle.
struct SpeakingHead {
    rig: Rig,
    mouth: Vec<f64>,
    /// The face, for framing.
    face: Vec<DVec3>,
}

pub(super) fn section(_: &Models) -> Result<Section, ReproduceError> {
    let mut section = Section::new(
        "Speech with emotions",
        "Figure 11: brows and eyes come from one animation, the mouth from another. A face has no \
         stiff parts, so the border between both is a band along the surface, over which eq. 5 \
         spreads the weights.",
    );
    let performance = pliant_specimens::load("specimen:head#performance")?;
    let speaker = SpeakingHead::new(performance.rig()?).map_err(failed("head"))?;

    let free = speaker
        .mouth
        .iter()
        .filter(|&&weight| weight > 0.0 && weight < 1.0)
        .count();

    section.figure("triangles in the band", free.to_string());
    section.wide(
        "expressions.png",
        "Top row: speech alone. Left column: emotions alone. Every other face combines the eyes \
         of its row with the mouth of its column.",
        &speaker.sheet()?,
    )?;

    let weights = speaker.draw(blended::scene(speaker.rig.neutral(), &speaker.mouth), LARGE)?;
    section.small(
        "expressions-weights.png",
        "The weights of speech: blue follows the animation of the mouth.",
        &weights,
    )?;

    let spoken = performance.clip()?;
    let talking = speaker.talking(&spoken).map_err(failed("head"))?;
    let pictures = talking
        .frames()
        .iter()
        .step_by(2)
        .map(|frame| speaker.picture(frame, LARGE))
        .collect::<Result<Vec<_>, _>>()?;

    section.moving(
        "expressions-play.png",
        "The mouth of the built-in performance with three emotions.",
        &pictures,
        83,
    )?;

    section.file(
        "talking-head.glb",
        "the speaking head with three emotions",
        glb(&performance, &talking)?,
    );

    Ok(section)
}

impl SpeakingHead {
    fn new(rig: Rig) -> Result<Self, TransferError> {
        let neutral = rig.neutral();
        let moved = |name: &str| places(&rig, name);
        let eyes = middle(&moved("eyeBlink"));
        let mouth = middle(&moved("mouthSmile"));

        // A little more than half of the distance from the eyes to the mouth: the tip of the nose.
        let cut = eyes.y + 0.55 * (mouth.y - eyes.y);
        let below =
            |t: usize| neutral.triangle_points(t).iter().map(|p| p.y).sum::<f64>() < 3.0 * cut;
        let drawn: Vec<bool> = (0..neutral.triangles().len()).map(below).collect();
        let weights = blend_weights(
            neutral,
            &geodesic_band(neutral, &drawn, 0.3 * (eyes.y - mouth.y).abs())?,
        )?;

        let face = [
            "browInnerUp",
            "browOuterUp",
            "jawOpen",
            "mouthSmile",
            "cheekSquint",
        ]
        .iter()
        .flat_map(|name| moved(name))
        .collect();

        Ok(Self {
            mouth: weights,
            face,
            rig,
        })
    }

    /// Poses of the head as a clip.
    fn clip(
        &self,
        name: &str,
        poses: impl IntoIterator<Item = Vec<f64>>,
    ) -> Result<Clip, TransferError> {
        let frames = poses
            .into_iter()
            .map(|weights| self.rig.evaluate(&weights))
            .collect();
        Ok(Clip::new(name, self.rig.neutral().clone(), frames)?)
    }

    /// Every frame of `below`, combined with the upper face of the same frame of `above`.
    fn assembled(&self, above: &Clip, below: &Clip) -> Result<Clip, TransferError> {
        let head = self.rig.neutral();
        let count = head.triangles().len();
        // Both clips are of the same mesh, so the correspondence is the identity.
        let sources = [above, below]
            .map(|clip| Source {
                clip,
                map: Cow::Owned(TriangleMap::identity(count)),
            })
            .to_vec();

        let layers = vec![
            Layer::whole(0, vec![1.0; count], above.frames().len()),
            Layer::whole(1, self.mouth.clone(), below.frames().len()),
        ];

        Synthesis::new(head, sources, layers, SynthesisOptions::default())?.clip("talking")
    }

    /// Speech in the top row, emotions in the left column, and all pairs between.
    fn sheet(&self) -> Result<Image, ReproduceError> {
        let pairs = || {
            EMOTIONS
                .iter()
                .flat_map(|emotion| SPEECH.iter().map(move |speech| (emotion, speech)))
        };

        let above = self
            .clip(
                "emotions",
                pairs().map(|(emotion, _)| self.weights(emotion.1)),
            )
            .map_err(failed("head"))?;

        // One clip for all pairs: each frame combines one emotion with one sound.
        let below = self
            .clip("speech", pairs().map(|(_, speech)| self.weights(speech.1)))
            .map_err(failed("head"))?;
        let both = self.assembled(&above, &below).map_err(failed("head"))?;
        let mut sheet = ContactSheet::new("", 1 + SPEECH.len());

        sheet.push(
            self.picture(self.rig.neutral().positions(), SIZE)?,
            "at rest",
        );

        for (k, (name, _)) in SPEECH.iter().enumerate() {
            sheet.push(
                self.picture(&below.frames()[k], SIZE)?,
                format!("\"{name}\""),
            );
        }

        for (row, (emotion, _)) in EMOTIONS.iter().enumerate() {
            let first = row * SPEECH.len();
            sheet.push(self.picture(&above.frames()[first], SIZE)?, *emotion);
            for (k, (speech, _)) in SPEECH.iter().enumerate() {
                sheet.push(
                    self.picture(&both.frames()[first + k], SIZE)?,
                    format!("{emotion} \"{speech}\""),
                );
            }
        }

        Ok(sheet.compose()?)
    }

    /// The mouth of a performance while the emotions follow each other.
    fn talking(&self, performance: &Clip) -> Result<Clip, TransferError> {
        let count = performance.frames().len();
        let emotions =
            (0..count).map(|k| self.emotion_at(k as f64 / count as f64 * EMOTIONS.len() as f64));
        self.assembled(&self.clip("moods", emotions)?, performance)
    }

    /// The sliders at a time in units of emotions: each fades in and out over a quarter of its time.
    fn emotion_at(&self, time: f64) -> Vec<f64> {
        let emotion = time as usize % EMOTIONS.len();
        let within = time.fract();
        let ramp = (4.0 * within.min(1.0 - within)).min(1.0);
        // Smoothstep.
        let presence = smoothstep(ramp);
        self.weights(EMOTIONS[emotion].1)
            .iter()
            .map(|weight| presence * weight)
            .collect()
    }

    fn weights(&self, sliders: &[(&str, f64)]) -> Vec<f64> {
        let mut weights = vec![0.0; self.rig.targets().len()];
        for (name, value) in sliders {
            for k in sliders_named(&self.rig, name) {
                weights[k] = *value;
            }
        }
        weights
    }

    fn picture(&self, frame: &[DVec3], size: [usize; 2]) -> Result<Image, ReproduceError> {
        let pose = self
            .rig
            .neutral()
            .posed(frame.to_vec())
            .map_err(failed("head"))?;
        self.draw(Look::default().scene(&pose), size)
    }

    fn draw(&self, mut scene: Scene, size: [usize; 2]) -> Result<Image, ReproduceError> {
        scene.backdrop.ground = Ground::None;
        Ok(Shot::new(FACE, size).framed_by(&self.face, &scene)?)
    }
}

/// The sliders of a name.
fn sliders_named<'a>(rig: &'a Rig, name: &'a str) -> impl Iterator<Item = usize> + 'a {
    let matches = move |target: &str| {
        target == name || target.strip_suffix("Left").or(target.strip_suffix("Right")) == Some(name)
    };
    rig.targets()
        .iter()
        .enumerate()
        .filter(move |(_, target)| matches(&target.name))
        .map(|(k, _)| k)
}

/// The positions of all vertices that a slider moves.
fn places(rig: &Rig, name: &str) -> Vec<DVec3> {
    let moved = sliders_named(rig, name).flat_map(|k| &rig.targets()[k].vertices);
    moved
        .map(|&v| rig.neutral().positions()[v as usize])
        .collect()
}

fn middle(points: &[DVec3]) -> DVec3 {
    points.iter().sum::<DVec3>() / points.len().max(1) as f64
}

fn glb(head: &Asset, talking: &Clip) -> Result<Vec<u8>, ReproduceError> {
    let mut animation = Animation::new(talking.name(), talking.frames().len());
    animation.frames_per_second = head.clips[0].frames_per_second;
    Ok(pliant_io::gltf::write(&head.with_point_clip(animation, talking.frames())?).bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_slider_of_an_expression_exists() {
        let rig = pliant_specimens::load("specimen:head")
            .unwrap()
            .rig()
            .unwrap();
        for (expression, sliders) in EMOTIONS.iter().chain(&SPEECH) {
            for (name, _) in *sliders {
                assert!(
                    sliders_named(&rig, name).next().is_some(),
                    "{expression}: {name}"
                );
            }
        }
    }

    #[test]
    fn the_brow_follows_the_first_clip_and_the_mouth_the_second() {
        let speaker = SpeakingHead::new(
            pliant_specimens::load("specimen:head")
                .unwrap()
                .rig()
                .unwrap(),
        )
        .unwrap();
        let above = speaker
            .clip("above", [speaker.weights(&[("browInnerUp", 1.0)])])
            .unwrap();
        let below = speaker
            .clip("below", [speaker.weights(&[("jawOpen", 1.0)])])
            .unwrap();

        let both = speaker.assembled(&above, &below).unwrap();
        // Where weights are one or zero, triangles are those of one clip, but for where they stand.
        let sides = |clip: &Clip, t: usize| {
            let [a, b, c] =
                speaker.rig.neutral().triangles()[t].map(|v| clip.frames()[0][v as usize]);
            [b - a, c - a]
        };

        let off = |clip: &Clip, weight: f64| -> f64 {
            let alike = (0..speaker.mouth.len()).filter(|&t| speaker.mouth[t] == weight);
            let [errors, lengths] = alike.fold([0.0; 2], |[errors, lengths], t| {
                let (found, expected) = (sides(&both, t), sides(clip, t));
                [
                    errors + found[0].distance(expected[0]) + found[1].distance(expected[1]),
                    lengths + expected[0].length() + expected[1].length(),
                ]
            });

            errors / lengths
        };

        assert!(
            off(&above, 0.0) < 0.01 && off(&below, 1.0) < 0.01,
            "{} {}",
            off(&above, 0.0),
            off(&below, 1.0)
        );

        assert!(off(&below, 0.0) > off(&above, 0.0) && off(&above, 1.0) > off(&below, 1.0));
    }
}
