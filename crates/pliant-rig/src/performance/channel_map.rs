//! Which channel of a performance moves which slider of a rig.
//!
//! **Problem.** A device records `EyeBlinkLeft`, the rig has `eyeBlink_L`, one slider for both
//! eyes, or MetaHuman's raw controls; a viseme is a combination, and some shapes a rig lacks.
//!
//! **Equation.** The weight of slider `k` is a sum over the routes that lead to it, inside its
//! limits:
//!
//! ```text
//! wₖ = clamp(Σᵣ gᵣ cᵣ + oᵣ)
//! ```
//!
//! **Method.** Routes are found in this order: the same name; the same name in another spelling or
//! of the same meaning ([`match_names`] to ARKit's list on both sides); a combination of ARKit's
//! shapes that stands for the channel; a combination of the rig's sliders that stands for a
//! missing shape (`recipes`). A left and a right channel of one slider count half each. Channels
//! without a slider are then compared with the presets of the rig in the same way, and move their
//! sliders. Angles of the eyes move the shapes of the gaze where no channel does (`gaze`).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::gaze;
use super::recipes::{FALLBACKS, METAHUMAN, Recipe, TO_ARKIT};
use super::recording::{Channel, ChannelKind, Performance};
use crate::{
    Interpolation, Limits, Preset, Rig, RigError, SliderName, Vocabulary, WeightTrack,
    did_you_mean, match_names, mirrored_name,
};

/// How a route was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RouteKind {
    /// By the user.
    #[default]
    Given,
    /// The same name.
    Name,
    /// The same shape under another name.
    Meaning,
    /// A combination that stands for the channel or for a missing slider.
    Combination,
}

/// A channel that moves a slider.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Route {
    /// The channel.
    pub from: String,
    /// The slider.
    pub to: String,
    /// The factor of the channel. Default: 1.
    #[serde(default = "one")]
    pub gain: f64,
    /// A constant that is added. Default: 0.
    #[serde(default)]
    pub offset: f64,
    /// How it was found.
    #[serde(default)]
    pub how: RouteKind,
}

fn one() -> f64 {
    1.0
}

/// Factors of the angles of the head or of the eyes. Zero leaves an angle out.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RotationGains {
    /// Factor of the yaw.
    pub yaw: f64,
    /// Factor of the pitch.
    pub pitch: f64,
    /// Factor of the roll.
    pub roll: f64,
}

impl Default for RotationGains {
    fn default() -> Self {
        Self {
            yaw: 1.0,
            pitch: 1.0,
            roll: 1.0,
        }
    }
}

/// The routes from all channels of a performance to the sliders of a rig.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChannelMap {
    /// The routes; several may lead from one channel or to one slider.
    pub channels: Vec<Route>,
    /// Least and greatest weight of a slider. Default: its limits in the rig.
    #[serde(default)]
    pub limits: BTreeMap<String, [f64; 2]>,
    /// Factors of the rotation of the head.
    #[serde(default)]
    pub head: RotationGains,
    /// Factors of the rotations of the eyes.
    #[serde(default)]
    pub eyes: RotationGains,
    /// Channels without a slider, for information.
    #[serde(default)]
    pub unmapped: Vec<String>,
}

/// How sides are treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SideUse {
    /// Each side moves by its own channels.
    #[default]
    Own,
    /// Left and right sliders both get the mean of the two.
    Symmetric,
    /// Left and right are exchanged.
    Mirrored,
}

impl ChannelMap {
    /// The routes from `channels` to `sliders` that follow from their names.
    #[must_use]
    pub fn guess(channels: &[Channel], sliders: &[String]) -> Self {
        let mut names = Vec::new();
        for channel in channels {
            if channel.kind == ChannelKind::Weight {
                names.push(channel.name.as_str());
            }
        }

        let rig = SliderIndex::new(sliders);
        let meanings = meanings_of(&names);
        let mut map = Self::default();
        for name in names {
            let routes = rig.routes(name, meanings.get(name).map_or(&[], Vec::as_slice));
            if routes.is_empty() {
                map.unmapped.push(name.to_owned());
            }
            map.channels.extend(routes);
        }

        // Angles of the eyes move the shapes of the gaze that no channel moves.
        for (channel, shape, gain) in gaze::shapes_of_rotations(channels) {
            let Some(found) = rig.by_arkit.get(shape) else {
                continue;
            };
            for &(slider, share) in found {
                map.channels.push(Route {
                    from: channel.to_owned(),
                    to: sliders[slider].clone(),
                    gain: gain * share,
                    offset: 0.0,
                    how: RouteKind::Combination,
                });
            }
        }
        map
    }

    /// Like [`guess`](Self::guess) for a rig with presets: a channel that means no slider, but a
    /// preset, moves the sliders of the preset.
    #[must_use]
    pub fn guess_with_presets(
        channels: &[Channel],
        sliders: &[String],
        presets: &[Preset],
    ) -> Self {
        let mut map = Self::guess(channels, sliders);
        let unmapped = std::mem::take(&mut map.unmapped);
        let is_left = |channel: &&Channel| unmapped.contains(&channel.name);
        let left: Vec<Channel> = channels.iter().filter(is_left).cloned().collect();
        let names: Vec<String> = presets.iter().map(|preset| preset.name.clone()).collect();
        let to_presets = Self::guess(&left, &names);
        map.unmapped = to_presets.unmapped;

        for route in to_presets.channels {
            let preset = presets.iter().find(|preset| preset.name == route.to);
            for (slider, weight) in preset.into_iter().flat_map(|preset| &preset.weights) {
                map.channels.push(Route {
                    to: slider.clone(),
                    gain: route.gain * weight,
                    ..route.clone()
                });
            }
        }
        map
    }

    /// The weights of the sliders of `rig` over time. Missing values count as rest.
    ///
    /// # Errors
    /// [`RigError::NoSuchChannel`], [`RigError::NoSuchSlider`] for names of the map that do not
    /// exist; [`RigError::BadWeight`] for gains that are not finite; [`RigError::Track`] for a
    /// performance without frames.
    pub fn track(
        &self,
        performance: &Performance,
        rig: &Rig,
        sides: SideUse,
    ) -> Result<WeightTrack, RigError> {
        let bound = BoundMap::new(self, performance, rig, sides)?;
        let frames = performance.frame_count();
        let keys = (0..frames).map(|frame| {
            let channels = performance.channels();
            bound.weights(|channel| channels[channel].values[frame])
        });
        let first = performance.times_secs().first().copied().unwrap_or(0.0);
        let times = performance.times_secs().iter().map(|time| time - first);
        WeightTrack::new(times.collect(), keys.collect(), Interpolation::Linear)
    }
}

/// The routes to one slider, and its limits.
#[derive(Debug, Clone)]
struct Inputs {
    /// Channel, gain and offset.
    routes: Vec<(usize, f64, f64)>,
    limits: Limits,
}

/// A map whose names are resolved, for use frame by frame.
#[derive(Debug, Clone)]
pub struct BoundMap {
    sliders: Vec<Inputs>,
    /// For each slider, the other side.
    partner: Vec<usize>,
    sides: SideUse,
}

impl BoundMap {
    /// Resolves the names of `map`.
    ///
    /// # Errors
    /// As [`ChannelMap::track`].
    pub fn new(
        map: &ChannelMap,
        performance: &Performance,
        rig: &Rig,
        sides: SideUse,
    ) -> Result<Self, RigError> {
        let channels = performance.channels();
        let mut sliders = Vec::with_capacity(rig.sliders().len());
        for slider in rig.sliders() {
            sliders.push(Inputs {
                routes: Vec::new(),
                limits: slider.limits,
            });
        }

        for (name, &[least, greatest]) in &map.limits {
            let slider = rig.slider_named(name)?;
            sliders[slider.index()].limits = Limits::new(least, greatest);
            sliders[slider.index()].limits.check(name)?;
        }

        for route in &map.channels {
            let slider = rig.slider_named(&route.to)?;
            let found = channels.iter().position(|c| c.name == route.from);
            let channel = found.ok_or_else(|| RigError::NoSuchChannel {
                channel: route.from.clone(),
                known: did_you_mean(&route.from, channels.iter().map(|c| c.name.as_str())),
            })?;
            if !(route.gain.is_finite() && route.offset.is_finite()) {
                return Err(RigError::BadWeight {
                    name: route.to.clone(),
                });
            }
            let routes = &mut sliders[slider.index()].routes;
            routes.push((channel, route.gain, route.offset));
        }

        Ok(Self {
            sliders,
            partner: partners(rig),
            sides,
        })
    }

    /// The weights of all sliders from the values of the channels.
    #[must_use]
    pub fn weights(&self, value: impl Fn(usize) -> f64) -> Vec<f64> {
        let mut weights = Vec::with_capacity(self.sliders.len());
        for inputs in &self.sliders {
            let mut weight = 0.0;
            for &(channel, gain, offset) in &inputs.routes {
                let value = value(channel);
                if value.is_finite() {
                    weight += gain * value + offset;
                }
            }
            weights.push(weight);
        }

        if self.sides != SideUse::Own {
            let own = weights.clone();
            for (weight, &partner) in weights.iter_mut().zip(&self.partner) {
                *weight = match self.sides {
                    SideUse::Mirrored => own[partner],
                    _ => 0.5 * (*weight + own[partner]),
                };
            }
        }

        for (weight, inputs) in weights.iter_mut().zip(&self.sliders) {
            *weight = inputs.limits.clamp(*weight);
        }
        weights
    }
}

/// For each slider the one on the other side, or itself.
fn partners(rig: &Rig) -> Vec<usize> {
    let targets = rig.targets();
    let mut partners = Vec::with_capacity(targets.len());
    for (k, target) in targets.iter().enumerate() {
        let mirrored = mirrored_name(&target.name);
        let partner = targets
            .iter()
            .position(|other| Some(&other.name) == mirrored.as_ref());
        partners.push(partner.unwrap_or(k));
    }
    partners
}

/// The shapes of ARKit that each channel means, with gains.
fn meanings_of<'a>(channels: &[&'a str]) -> BTreeMap<&'a str, Vec<(String, f64)>> {
    let mut meanings: BTreeMap<&str, Vec<(String, f64)>> = BTreeMap::new();
    let map = match_names(channels, Vocabulary::Arkit);
    for pair in map.pairs {
        meanings.insert(channels[pair.source], vec![(pair.name, 1.0)]);
    }
    for (source, halves) in map.to_split {
        meanings.insert(channels[source], halves.map(|half| (half, 1.0)).to_vec());
    }
    for (sources, name) in map.to_merge {
        for source in sources {
            meanings.insert(channels[source], vec![(name.clone(), 0.5)]);
        }
    }

    // A combination says more than one similar shape: a viseme is not only a jaw.
    for &channel in channels {
        if let Some((_, parts)) = TO_ARKIT.iter().find(|(name, _)| is_called(channel, name)) {
            let parts = parts.iter().map(|&(name, gain)| (name.to_owned(), gain));
            meanings.insert(channel, parts.collect());
        } else if let Some((arkit, gain)) = arkit_of_metahuman(channel) {
            meanings.insert(channel, vec![(arkit.to_owned(), gain)]);
        }
    }
    meanings
}

/// The shape of ARKit of which a raw control of MetaHuman is a part, and its share.
fn arkit_of_metahuman(channel: &str) -> Option<(&'static str, f64)> {
    let bare = without_prefix(channel);
    // Only names that are no shapes of ARKit themselves.
    if bare.len() == channel.len() && !channel.starts_with("CTRL_") {
        return None;
    }
    METAHUMAN.iter().find_map(|&(arkit, controls)| {
        let share = 1.0 / controls.len() as f64;
        controls
            .iter()
            .any(|(name, _)| bare.eq_ignore_ascii_case(name))
            .then_some((arkit, share))
    })
}

/// A name without the prefixes of lists.
fn without_prefix(name: &str) -> &str {
    const PREFIXES: [&str; 4] = ["CTRL_expressions_", "CTRL_", "viseme_", "viseme"];
    let last = name
        .rsplit_once(['.', ':', '|', '/'])
        .map_or(name, |(_, last)| last);
    for prefix in PREFIXES {
        if let Some(start) = last.get(..prefix.len())
            && start.eq_ignore_ascii_case(prefix)
            && last.len() > prefix.len()
        {
            return &last[prefix.len()..];
        }
    }
    last
}

fn is_called(channel: &str, name: &str) -> bool {
    let bare = without_prefix(channel);
    // `E`, `I`, `O` and `U` alone are too short to mean a viseme in any case.
    if name.len() == 1 {
        bare == name
    } else {
        bare.eq_ignore_ascii_case(name)
    }
}

/// The sliders of a rig by their names and by the shapes of ARKit that they are.
struct SliderIndex<'a> {
    sliders: &'a [String],
    /// For each shape of ARKit the sliders that show it, with gains.
    by_arkit: BTreeMap<String, Vec<(usize, f64)>>,
}

impl<'a> SliderIndex<'a> {
    fn new(sliders: &'a [String]) -> Self {
        let names: Vec<&str> = sliders.iter().map(String::as_str).collect();
        let map = match_names(&names, Vocabulary::Arkit);
        let mut by_arkit: BTreeMap<String, Vec<(usize, f64)>> = BTreeMap::new();
        for pair in map.pairs {
            by_arkit.insert(pair.name, vec![(pair.source, 1.0)]);
        }
        for (source, halves) in map.to_split {
            for half in halves {
                by_arkit.insert(half, vec![(source, 0.5)]);
            }
        }
        for (sources, name) in map.to_merge {
            by_arkit.insert(name, sources.map(|source| (source, 1.0)).to_vec());
        }

        // Raw controls of MetaHuman are known by their own list.
        for &(arkit, controls) in METAHUMAN {
            let mut found = Vec::new();
            for &(control, gain) in controls {
                let is_control = |name: &&str| {
                    name.starts_with("CTRL_") && without_prefix(name).eq_ignore_ascii_case(control)
                };
                if let Some(name) = names.iter().find(|name| is_control(name)) {
                    let slider = names.iter().position(|other| other == name);
                    found.extend(slider.map(|slider| (slider, gain)));
                }
            }
            if !found.is_empty() {
                by_arkit.insert(arkit.to_owned(), found);
            }
        }

        Self { sliders, by_arkit }
    }

    /// The routes of a channel that means a combination of ARKit's shapes.
    fn routes(&self, channel: &str, meaning: &[(String, f64)]) -> Vec<Route> {
        let route = |slider: usize, gain: f64, how: RouteKind| Route {
            from: channel.to_owned(),
            to: self.sliders[slider].clone(),
            gain,
            offset: 0.0,
            how,
        };
        if let Some(slider) = self.named(channel) {
            return vec![route(slider, 1.0, RouteKind::Name)];
        }

        let is_combination = meaning.len() > 1 || meaning.iter().any(|(_, gain)| *gain != 1.0);
        let mut routes: Vec<Route> = Vec::new();
        for (arkit, gain) in meaning {
            for (slider, share, is_fallback) in self.sliders_of(arkit) {
                let how = if is_combination || is_fallback {
                    RouteKind::Combination
                } else {
                    RouteKind::Meaning
                };
                // Two parts of a combination may lead to one slider.
                let name = &self.sliders[slider];
                match routes.iter_mut().find(|other| other.to == *name) {
                    Some(known) => known.gain += gain * share,
                    None => routes.push(route(slider, gain * share, how)),
                }
            }
        }
        routes
    }

    /// The slider of this name, or else of the same words and sides.
    fn named(&self, channel: &str) -> Option<usize> {
        if let Some(slider) = self.sliders.iter().position(|name| name == channel) {
            return Some(slider);
        }
        let parsed = SliderName::parse(channel);
        let same = |name: &String| {
            let other = SliderName::parse(name);
            other.sides == parsed.sides && other.stem() == parsed.stem()
        };
        let mut found = (0..self.sliders.len()).filter(|&k| same(&self.sliders[k]));
        match (found.next(), found.next()) {
            (Some(slider), None) => Some(slider),
            _ => None,
        }
    }

    /// The sliders that show a shape of ARKit, or stand for it, with gains.
    fn sliders_of(&self, arkit: &str) -> Vec<(usize, f64, bool)> {
        if let Some(found) = self.by_arkit.get(arkit) {
            return found.iter().map(|&(s, gain)| (s, gain, false)).collect();
        }

        let usable = |(from, parts): &&Recipe| {
            *from == arkit
                && parts
                    .iter()
                    .all(|(name, _)| self.by_arkit.contains_key(*name))
        };
        let Some((_, parts)) = FALLBACKS.iter().find(usable) else {
            return Vec::new();
        };
        let mut found = Vec::new();
        for (name, gain) in *parts {
            let sliders = self.by_arkit[*name].iter();
            found.extend(sliders.map(|&(slider, share)| (slider, gain * share, true)));
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use pliant_mesh::Mesh;
    use pliant_mesh::glam::{DVec3, Vec3};

    use super::*;
    use crate::Target;

    fn channels(names: &[&str], values: &[f64]) -> Vec<Channel> {
        let channel = |name: &&str| Channel::new(*name, values.to_vec());
        names.iter().map(channel).collect()
    }

    fn strings(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    fn rig(names: &[&str]) -> Rig {
        let mesh =
            Mesh::from_triangles(vec![DVec3::ZERO, DVec3::X, DVec3::Y], &[[0, 1, 2]]).unwrap();
        let target = |name: &&str| Target::from_dense(*name, [Vec3::Z; 3]);
        Rig::new(mesh, names.iter().map(target).collect()).unwrap()
    }

    /// Slider and gain of every route of one channel.
    fn routes(channel: &str, sliders: &[&str]) -> Vec<(String, f64)> {
        let map = ChannelMap::guess(&channels(&[channel], &[]), &strings(sliders));
        let routes = map.channels.into_iter().map(|route| (route.to, route.gain));
        routes.collect()
    }

    fn pair(name: &str, gain: f64) -> (String, f64) {
        (name.to_owned(), gain)
    }

    #[test]
    fn every_shape_of_a_phone_reaches_its_own_slider() {
        let arkit = Vocabulary::Arkit.names();
        let upper = |name: &String| name[..1].to_uppercase() + &name[1..];
        let phone: Vec<String> = arkit.iter().map(upper).collect();
        let names: Vec<&str> = phone.iter().map(String::as_str).collect();
        let map = ChannelMap::guess(&channels(&names, &[]), &arkit);

        assert!(map.unmapped.is_empty());
        assert_eq!(map.channels.len(), arkit.len());
        for (route, name) in map.channels.iter().zip(&arkit) {
            assert_eq!((&route.to, route.gain), (name, 1.0));
        }
    }

    #[test]
    fn sides_are_split_and_merged_and_never_exchanged() {
        assert_eq!(
            routes("browInnerUp", &["browInnerUp_L", "browInnerUp_R"]),
            [pair("browInnerUp_L", 1.0), pair("browInnerUp_R", 1.0)]
        );
        assert!(routes("eyeBlinkLeft", &["eyeBlink_R"]).is_empty());

        let map = ChannelMap::guess(
            &channels(&["mouthSmileLeft", "mouthSmileRight"], &[]),
            &strings(&["mouth-corner-puller"]),
        );
        let found: Vec<_> = map
            .channels
            .iter()
            .map(|r| (r.from.as_str(), r.gain))
            .collect();
        assert_eq!(found, [("mouthSmileLeft", 0.5), ("mouthSmileRight", 0.5)]);
    }

    #[test]
    fn lists_of_other_devices_are_combinations() {
        assert_eq!(
            routes("viseme_O", &["jawOpen", "mouthFunnel"]),
            [pair("jawOpen", 0.35), pair("mouthFunnel", 0.6)]
        );
        assert_eq!(
            routes(
                "MouthFunnel",
                &[
                    "CTRL_expressions_mouthFunnelUL",
                    "CTRL_expressions_mouthFunnelDR"
                ]
            ),
            [
                pair("CTRL_expressions_mouthFunnelUL", 1.0),
                pair("CTRL_expressions_mouthFunnelDR", 1.0)
            ]
        );
        assert_eq!(
            routes("CTRL_expressions_mouthCornerPullL", &["mouthSmile_L"]),
            [pair("mouthSmile_L", 1.0)]
        );
        assert_eq!(
            routes("mouth_rightMouth_smile", &["mouthSmile_L", "mouthSmile_R"]),
            [pair("mouthSmile_R", 1.0)]
        );
        assert_eq!(routes("AU26", &["jawOpen"]), [pair("jawOpen", 1.0)]);
    }

    #[test]
    fn a_missing_slider_is_replaced_by_a_combination_or_reported() {
        let found = routes("mouthPucker", &["mouthFunnel", "jawOpen"]);
        assert_eq!(found, [pair("mouthFunnel", 0.6)]);

        let map = ChannelMap::guess(
            &channels(&["tongueOut", "HeadYaw"], &[]),
            &strings(&["jawOpen"]),
        );
        assert_eq!(map.unmapped, ["tongueOut"], "rotations are no sliders");
    }

    #[test]
    fn eyes_that_only_rotate_move_the_shapes_of_the_gaze() {
        let rig = rig(&["eyeLookIn_L", "eyeLookOut_L", "eyeLookUp_L"]);
        let names = strings(&["eyeLookIn_L", "eyeLookOut_L", "eyeLookUp_L"]);
        let take = vec![
            Channel::new("LeftEyeYaw", vec![0.24, -0.24]),
            Channel::new("LeftEyePitch", vec![0.3, -0.3]),
        ];
        let take = Performance::even("take", 60.0, take).unwrap();
        let map = ChannelMap::guess(take.channels(), &names);
        let track = map.track(&take, &rig, SideUse::Own).unwrap();
        for (row, wanted) in track.keys().iter().zip([[0.5, 0.0, 0.0], [0.0, 0.5, 0.5]]) {
            for (weight, wanted) in row.iter().zip(wanted) {
                assert!((weight - wanted).abs() < 1e-12, "{row:?}");
            }
        }
    }

    #[test]
    fn weights_are_sums_of_routes_inside_limits() {
        let rig = rig(&["jawOpen", "smile_L", "smile_R"]);
        let take = Performance::even(
            "take",
            60.0,
            vec![
                Channel::new("a", vec![0.25, 4.0, f64::NAN]),
                Channel::new("b", vec![0.5, 0.0, 0.5]),
            ],
        )
        .unwrap();
        let route = |from: &str, to: &str, gain| Route {
            from: from.into(),
            to: to.into(),
            gain,
            offset: 0.0,
            how: RouteKind::Given,
        };
        let mut map = ChannelMap {
            channels: vec![
                route("a", "jawOpen", 1.0),
                route("b", "jawOpen", 0.5),
                route("b", "smile_L", 1.0),
            ],
            ..ChannelMap::default()
        };

        let track = map.track(&take, &rig, SideUse::Own).unwrap();
        assert_eq!(
            track.keys(),
            [[0.5, 0.5, 0.0], [1.0, 0.0, 0.0], [0.25, 0.5, 0.0]]
        );
        let mirrored = map.track(&take, &rig, SideUse::Mirrored).unwrap();
        assert_eq!(mirrored.keys()[0], [0.5, 0.0, 0.5]);
        let symmetric = map.track(&take, &rig, SideUse::Symmetric).unwrap();
        assert_eq!(symmetric.keys()[0], [0.5, 0.25, 0.25]);

        map.limits.insert("jawOpen".into(), [0.0, 0.3]);
        let limited = map.track(&take, &rig, SideUse::Own).unwrap();
        assert_eq!(limited.keys()[0][0], 0.3);

        map.channels.push(route("c", "jawOpen", 1.0));
        let message = map
            .track(&take, &rig, SideUse::Own)
            .unwrap_err()
            .to_string();
        assert!(message.contains("'c'"), "{message}");
    }

    #[test]
    fn a_channel_without_a_slider_moves_the_sliders_of_its_preset() {
        let sliders = strings(&["shape7", "shape3", "jawOpen"]);
        let weights = [("shape7", 1.0), ("shape3", 0.25)];
        let blink = Preset {
            name: "blinkLeft".into(),
            weights: weights
                .map(|(name, weight)| (name.to_owned(), weight))
                .into(),
        };

        let channels = channels(&["eyeBlinkLeft", "jawOpen", "tongueOut"], &[]);
        let map = ChannelMap::guess_with_presets(&channels, &sliders, &[blink]);
        let routes = map.channels.iter();
        let routes: Vec<_> = routes
            .map(|route| (route.from.as_str(), route.to.as_str(), route.gain))
            .collect();
        assert_eq!(
            routes,
            [
                ("jawOpen", "jawOpen", 1.0),
                ("eyeBlinkLeft", "shape3", 0.25),
                ("eyeBlinkLeft", "shape7", 1.0)
            ]
        );
        assert_eq!(map.unmapped, ["tongueOut"]);
    }
}
