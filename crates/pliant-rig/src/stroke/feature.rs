//! The feature of a face that a stroke was drawn on.
//!
//! **Problem.** A stroke on a brow asks for a motion of the brow. Sliders of the nose and of the eyes
//! move the same points a little, and a solver that knows only the points uses them.
//!
//! **Method.** The name of a slider says which feature it moves; its displacements say where that
//! feature is. At the points `p` of a curve, with the sliders `F` of a feature,
//!
//! ```text
//! strength(F) = mean over p of max over k in F of |δₖ(p)| / maxᵥ |δₖᵥ|
//! ```
//!
//! The feature with the largest strength is that of the stroke, and only sliders that belong to it
//! follow the stroke. Lips and jaw share theirs, as a mouth moves both.
//!
//! The feature also says how the ends of a bent stroke move. A brow or a lid moves as a whole, so its ends
//! go with the bow; the corners of a mouth go against it, and a mouth that cannot follow ⌒ is not meant to
//! smile instead.
//!
//! **Departures.** On a rig without telling names there are no features, and all sliders follow. A
//! slider whose name says nothing belongs to no feature.

use pliant_mesh::SurfacePoint;

use crate::{MatchKind, Pin, Rig, RigError, SideStretch, SurfaceCurve, Vocabulary, match_names};

/// A feature of a face.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Feature {
    /// An eyebrow.
    Brow,
    /// An eyelid.
    Lid,
    /// A lip or a corner of the mouth.
    Lip,
    /// The lower jaw.
    Jaw,
    /// A cheek.
    Cheek,
    /// The nose.
    Nose,
}

/// The sliders of the features of a rig.
#[derive(Debug, Clone)]
pub struct FaceFeatures {
    /// For each slider its feature.
    of_slider: Vec<Option<Feature>>,
}

impl Feature {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Brow,
        Self::Lid,
        Self::Lip,
        Self::Jaw,
        Self::Cheek,
        Self::Nose,
    ];

    /// Its name in English.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Brow => "brow",
            Self::Lid => "lid",
            Self::Lip => "lip",
            Self::Jaw => "jaw",
            Self::Cheek => "cheek",
            Self::Nose => "nose",
        }
    }

    /// The feature that the words of a slider's name say.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        // The first word that matches decides: a brow may be one of an eye, "eyebrow".
        const WORDS: [(Feature, &[&str]); 6] = [
            (Feature::Brow, &["brow"]),
            (Feature::Nose, &["nose", "sneer", "nostril"]),
            (Feature::Cheek, &["cheek"]),
            (Feature::Lid, &["blink", "squint", "eyewide", "lid", "wink"]),
            (Feature::Jaw, &["jaw", "chin"]),
            (
                Feature::Lip,
                &[
                    "mouth", "lip", "smile", "frown", "pucker", "funnel", "dimple",
                ],
            ),
        ];

        let letters = name.chars().filter(|c| c.is_alphanumeric());
        let name: String = letters.flat_map(char::to_lowercase).collect();
        for (feature, words) in WORDS {
            if words.iter().any(|word| name.contains(word)) {
                return Some(feature);
            }
        }

        // An eye that closes or opens is a lid; one that looks is not.
        let is_lid = name.contains("eye")
            && ["clos", "open", "slit", "wide"]
                .iter()
                .any(|word| name.contains(word));
        is_lid.then_some(Self::Lid)
    }

    /// How the ends of a bent stroke on `feature` may be meant, the more likely way first.
    #[must_use]
    pub fn side_stretches(feature: Option<Self>) -> &'static [SideStretch] {
        match feature {
            Some(Self::Brow | Self::Lid | Self::Cheek | Self::Nose) => {
                &[SideStretch::Bow, SideStretch::Tangent]
            }
            Some(Self::Lip) => &[SideStretch::Tangent],
            Some(Self::Jaw) | None => &[SideStretch::Tangent, SideStretch::Bow],
        }
    }

    /// Whether sliders of `other` follow a stroke on this feature.
    fn takes(self, other: Self) -> bool {
        match self {
            Self::Lip | Self::Jaw => matches!(other, Self::Lip | Self::Jaw),
            Self::Cheek => matches!(other, Self::Cheek | Self::Lip),
            _ => self == other,
        }
    }

    /// The factor of its strength. *Chosen*: an open jaw moves the lower lip as far as the chin, and
    /// lines on a lip are meant for the lip.
    fn priority(self) -> f64 {
        match self {
            Self::Jaw => 0.6,
            _ => 1.0,
        }
    }
}

impl FaceFeatures {
    /// The least strength of a feature at a stroke on it. *Chosen*: at the rim of a feature its
    /// sliders move the surface by a fifth of their largest displacement.
    const LEAST_STRENGTH: f64 = 0.2;

    /// The features of a rig, by the names of its sliders.
    #[must_use]
    pub fn of(rig: &Rig) -> Self {
        let names: Vec<&str> = rig.targets().iter().map(|t| t.name.as_str()).collect();
        let mut of_slider: Vec<Option<Feature>> =
            names.iter().map(|name| Feature::of_name(name)).collect();

        // Names of other vocabularies, such as AU4, say it through their meaning.
        for pair in match_names(&names, Vocabulary::Arkit).pairs {
            let is_certain = !matches!(pair.how, MatchKind::Fuzzy(_));
            if is_certain && of_slider[pair.source].is_none() {
                of_slider[pair.source] = Feature::of_name(&pair.name);
            }
        }
        Self { of_slider }
    }

    /// The feature of each slider.
    #[must_use]
    pub fn of_sliders(&self) -> &[Option<Feature>] {
        &self.of_slider
    }

    /// Whether the rig has sliders of `feature`.
    #[must_use]
    pub fn has(&self, feature: Feature) -> bool {
        self.of_slider.contains(&Some(feature))
    }

    /// For each slider whether it follows a stroke on `feature`.
    #[must_use]
    pub fn followers(&self, feature: Feature) -> Vec<bool> {
        let follows = |own: &Option<Feature>| own.is_some_and(|own| feature.takes(own));
        self.of_slider.iter().map(follows).collect()
    }

    /// The feature on which `curve` lies, if there is one.
    pub fn at_curve(&self, rig: &Rig, curve: &SurfaceCurve) -> Result<Option<Feature>, RigError> {
        curve.check(rig.neutral())?;
        let strengths = self.strengths(rig, &curve.points);
        let mut best: Option<(Feature, f64)> = None;
        for feature in Feature::ALL {
            let strength = strengths[feature as usize] * feature.priority();
            if strength >= Self::LEAST_STRENGTH && best.is_none_or(|(_, most)| strength > most) {
                best = Some((feature, strength));
            }
        }
        Ok(best.map(|(feature, _)| feature))
    }

    /// `strength` of each feature at surface points.
    fn strengths(&self, rig: &Rig, points: &[SurfacePoint]) -> [f64; Feature::ALL.len()] {
        let mesh = rig.neutral();
        let supports: Vec<_> = points
            .iter()
            .map(|&at| Pin { at, ..Pin::hold(0) }.support(mesh))
            .collect();

        let mut strongest = vec![[0.0_f64; Feature::ALL.len()]; points.len()];
        for (target, feature) in rig.targets().iter().zip(&self.of_slider) {
            let lengths = target.deltas.iter().map(|d| f64::from(d.length()));
            let largest = lengths.fold(0.0, f64::max);
            let (Some(feature), true) = (feature, largest > 0.0) else {
                continue;
            };
            for (strength, support) in strongest.iter_mut().zip(&supports) {
                let shape = (&target.vertices[..], &target.deltas[..]);
                let part = support.displacement(shape).length() / largest;
                let known = &mut strength[*feature as usize];
                *known = known.max(part);
            }
        }

        let mut means = [0.0; Feature::ALL.len()];
        for strength in &strongest {
            for (mean, value) in means.iter_mut().zip(strength) {
                *mean += value / points.len() as f64;
            }
        }
        means
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Target;
    use pliant_mesh::glam::{DVec3, Vec3};
    use pliant_mesh::shapes::flat_sheet;

    #[test]
    fn names_of_several_rigs_say_their_feature() {
        for (name, feature) in [
            ("browInnerUp", Some(Feature::Brow)),
            ("eyebrows-left-down", Some(Feature::Brow)),
            ("mesh.EyeBlink_L", Some(Feature::Lid)),
            ("eye-left-closure", Some(Feature::Lid)),
            ("eyeLookUpLeft", None),
            ("jawOpen", Some(Feature::Jaw)),
            ("mouthSmile_R", Some(Feature::Lip)),
            ("cheekSquintLeft", Some(Feature::Cheek)),
            ("noseSneerRight", Some(Feature::Nose)),
            ("target 12", None),
        ] {
            assert_eq!(Feature::of_name(name), feature, "{name}");
        }
    }

    /// A brow at the top of a sheet, a nose below, which moves the brow a little.
    fn rig() -> Rig {
        let sheet = flat_sheet(10, 0.0);
        let bump = |center: DVec3, reach: f64| -> Vec<Vec3> {
            let height = |p: &DVec3| (1.0 - p.distance(center) / reach).max(0.0) as f32;
            sheet
                .positions()
                .iter()
                .map(|p| Vec3::Y * height(p))
                .collect()
        };
        let targets = vec![
            Target::from_dense("browUp", bump(DVec3::new(0.5, 1.0, 0.0), 0.5)),
            Target::from_dense("noseSneer", bump(DVec3::new(0.5, 0.4, 0.0), 0.8)),
            Target::from_dense("x12", bump(DVec3::new(0.5, 1.0, 0.0), 0.5)),
        ];
        Rig::new(sheet, targets).unwrap()
    }

    fn row(rig: &Rig, y: f64) -> SurfaceCurve {
        let positions = rig.neutral().positions();
        let near = |v: &u32| {
            let p = positions[*v as usize];
            (p.y - y).abs() < 1e-9 && (0.3..0.7).contains(&p.x)
        };
        let vertices: Vec<u32> = (0..positions.len() as u32).filter(near).collect();
        SurfaceCurve::through_vertices(&vertices)
    }

    #[test]
    fn a_stroke_lies_on_the_feature_whose_sliders_move_it_most() {
        let rig = rig();
        let features = FaceFeatures::of(&rig);
        let at = |y: f64| features.at_curve(&rig, &row(&rig, y)).unwrap();
        assert_eq!(at(1.0), Some(Feature::Brow));
        assert_eq!(at(0.4), Some(Feature::Nose));
        assert_eq!(features.followers(Feature::Brow), [true, false, false]);

        let unnamed = Rig::new(rig.neutral().clone(), rig.targets()[2..].to_vec()).unwrap();
        let none = FaceFeatures::of(&unnamed).at_curve(&unnamed, &row(&unnamed, 1.0));
        assert_eq!(none.unwrap(), None, "no name says anything");
    }
}
