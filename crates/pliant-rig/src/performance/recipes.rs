//! Combinations that stand for a shape of another list: visemes, VRM, Faceware and MetaHuman.
//!
//! **Problem.** Lists of shapes differ in what one shape is: a viseme is a whole mouth, a funnel of
//! MetaHuman has four corners, and a rig may lack a shape that a device records.
//!
//! **Sources.** Meta, "Viseme reference" (15 mouth shapes) and the VRM 1.0 expressions, written as
//! combinations of Apple's 52 by their descriptions; Faceware, list of animation values; names of
//! the raw controls of MetaHuman, with the shapes of Apple's that Epic's sample maps to them.
//!
//! **Departures.** All gains are *chosen*: descriptions say which parts of a face move, not by how
//! much. The map file of `pliant play --init` shows every gain for correction.

/// A shape of one list as a combination of shapes of another: names with gains.
pub(super) type Recipe = (&'static str, &'static [(&'static str, f64)]);

/// Shapes of other lists by ARKit's, without the prefixes `viseme_` and `CTRL_expressions_`.
#[rustfmt::skip]
pub(super) const TO_ARKIT: &[Recipe] = &[
    // Visemes of Meta and Oculus.
    ("sil", &[]),
    ("PP",  &[("mouthPressLeft", 0.6), ("mouthPressRight", 0.6), ("mouthRollLower", 0.2), ("mouthRollUpper", 0.2)]),
    ("FF",  &[("mouthRollLower", 0.6), ("mouthUpperUpLeft", 0.25), ("mouthUpperUpRight", 0.25), ("jawOpen", 0.05)]),
    ("TH",  &[("jawOpen", 0.15), ("tongueOut", 0.4), ("mouthLowerDownLeft", 0.15), ("mouthLowerDownRight", 0.15)]),
    ("DD",  &[("jawOpen", 0.12), ("mouthLowerDownLeft", 0.25), ("mouthLowerDownRight", 0.25)]),
    ("kk",  &[("jawOpen", 0.2), ("mouthStretchLeft", 0.1), ("mouthStretchRight", 0.1)]),
    ("CH",  &[("mouthFunnel", 0.6), ("jawOpen", 0.06)]),
    ("SS",  &[("mouthStretchLeft", 0.35), ("mouthStretchRight", 0.35), ("mouthLowerDownLeft", 0.2), ("mouthLowerDownRight", 0.2), ("jawOpen", 0.03)]),
    ("nn",  &[("jawOpen", 0.1), ("mouthLowerDownLeft", 0.15), ("mouthLowerDownRight", 0.15)]),
    ("RR",  &[("mouthFunnel", 0.35), ("mouthPucker", 0.2), ("jawOpen", 0.1)]),
    ("aa",  &[("jawOpen", 0.6)]),
    ("E",   &[("jawOpen", 0.3), ("mouthStretchLeft", 0.3), ("mouthStretchRight", 0.3)]),
    ("I",   &[("jawOpen", 0.15), ("mouthStretchLeft", 0.45), ("mouthStretchRight", 0.45)]),
    ("O",   &[("jawOpen", 0.35), ("mouthFunnel", 0.6)]),
    ("U",   &[("jawOpen", 0.1), ("mouthPucker", 0.75)]),
    // Expressions of VRM whose names are no shapes of ARKit.
    ("ih",  &[("jawOpen", 0.15), ("mouthStretchLeft", 0.45), ("mouthStretchRight", 0.45)]),
    ("ee",  &[("jawOpen", 0.2), ("mouthStretchLeft", 0.35), ("mouthStretchRight", 0.35)]),
    ("oh",  &[("jawOpen", 0.35), ("mouthFunnel", 0.6)]),
    ("ou",  &[("jawOpen", 0.1), ("mouthPucker", 0.75)]),
    ("angry",     &[("browDownLeft", 0.9), ("browDownRight", 0.9), ("noseSneerLeft", 0.4), ("noseSneerRight", 0.4), ("mouthPressLeft", 0.4), ("mouthPressRight", 0.4)]),
    ("sad",       &[("browInnerUp", 0.8), ("mouthFrownLeft", 0.7), ("mouthFrownRight", 0.7)]),
    ("sorrow",    &[("browInnerUp", 0.8), ("mouthFrownLeft", 0.7), ("mouthFrownRight", 0.7)]),
    ("surprised", &[("browInnerUp", 0.8), ("browOuterUpLeft", 0.8), ("browOuterUpRight", 0.8), ("eyeWideLeft", 0.7), ("eyeWideRight", 0.7), ("jawOpen", 0.25)]),
    ("relaxed",   &[("mouthSmileLeft", 0.3), ("mouthSmileRight", 0.3), ("eyeSquintLeft", 0.2), ("eyeSquintRight", 0.2)]),
    ("fun",       &[("mouthSmileLeft", 0.5), ("mouthSmileRight", 0.5), ("eyeSquintLeft", 0.3), ("eyeSquintRight", 0.3)]),
    // Faceware's animation values.
    ("eyes_leftEye_blink", &[("eyeBlinkLeft", 1.0)]),
    ("eyes_rightEye_blink", &[("eyeBlinkRight", 1.0)]),
    ("eyes_leftEye_wide", &[("eyeWideLeft", 1.0)]),
    ("eyes_rightEye_wide", &[("eyeWideRight", 1.0)]),
    ("eyes_lookUp", &[("eyeLookUpLeft", 1.0), ("eyeLookUpRight", 1.0)]),
    ("eyes_lookDown", &[("eyeLookDownLeft", 1.0), ("eyeLookDownRight", 1.0)]),
    ("eyes_lookLeft", &[("eyeLookOutLeft", 1.0), ("eyeLookInRight", 1.0)]),
    ("eyes_lookRight", &[("eyeLookInLeft", 1.0), ("eyeLookOutRight", 1.0)]),
    ("brows_leftBrow_up", &[("browOuterUpLeft", 1.0)]),
    ("brows_rightBrow_up", &[("browOuterUpRight", 1.0)]),
    ("brows_leftBrow_down", &[("browDownLeft", 1.0)]),
    ("brows_rightBrow_down", &[("browDownRight", 1.0)]),
    ("brows_midBrows_up", &[("browInnerUp", 1.0)]),
    ("brows_midBrows_down", &[("browDownLeft", 0.5), ("browDownRight", 0.5)]),
    ("jaw_open", &[("jawOpen", 1.0)]),
    ("jaw_left", &[("jawLeft", 1.0)]),
    ("jaw_right", &[("jawRight", 1.0)]),
    ("mouth_left", &[("mouthLeft", 1.0)]),
    ("mouth_right", &[("mouthRight", 1.0)]),
    ("mouth_leftMouth_smile", &[("mouthSmileLeft", 1.0)]),
    ("mouth_rightMouth_smile", &[("mouthSmileRight", 1.0)]),
    ("mouth_leftMouth_frown", &[("mouthFrownLeft", 1.0)]),
    ("mouth_rightMouth_frown", &[("mouthFrownRight", 1.0)]),
    ("mouth_leftMouth_narrow", &[("mouthPucker", 0.5)]),
    ("mouth_rightMouth_narrow", &[("mouthPucker", 0.5)]),
    ("mouth_leftMouth_stretch", &[("mouthStretchLeft", 1.0)]),
    ("mouth_rightMouth_stretch", &[("mouthStretchRight", 1.0)]),
    ("mouth_upperLip_left_up", &[("mouthUpperUpLeft", 1.0)]),
    ("mouth_upperLip_right_up", &[("mouthUpperUpRight", 1.0)]),
    ("mouth_lowerLip_left_down", &[("mouthLowerDownLeft", 1.0)]),
    ("mouth_lowerLip_right_down", &[("mouthLowerDownRight", 1.0)]),
    ("mouth_phoneme_mbp", &[("mouthPressLeft", 0.6), ("mouthPressRight", 0.6)]),
    ("mouth_phoneme_oo", &[("mouthPucker", 0.75)]),
    ("mouth_phoneme_ch", &[("mouthFunnel", 0.6)]),
    ("mouth_phoneme_fv", &[("mouthRollLower", 0.6)]),
];

/// ARKit's shapes by the raw controls of MetaHuman.
#[rustfmt::skip]
pub(super) const METAHUMAN: &[Recipe] = &[
    ("browDownLeft", &[("browDownL", 1.0), ("browLateralL", 0.5)]),
    ("browDownRight", &[("browDownR", 1.0), ("browLateralR", 0.5)]),
    ("browInnerUp", &[("browRaiseInL", 1.0), ("browRaiseInR", 1.0)]),
    ("browOuterUpLeft", &[("browRaiseOuterL", 1.0)]),
    ("browOuterUpRight", &[("browRaiseOuterR", 1.0)]),
    ("cheekPuff", &[("mouthCheekBlowL", 1.0), ("mouthCheekBlowR", 1.0)]),
    ("cheekSquintLeft", &[("eyeCheekRaiseL", 1.0)]),
    ("cheekSquintRight", &[("eyeCheekRaiseR", 1.0)]),
    ("eyeBlinkLeft", &[("eyeBlinkL", 1.0)]),
    ("eyeBlinkRight", &[("eyeBlinkR", 1.0)]),
    ("eyeLookDownLeft", &[("eyeLookDownL", 1.0)]),
    ("eyeLookDownRight", &[("eyeLookDownR", 1.0)]),
    ("eyeLookInLeft", &[("eyeLookRightL", 1.0)]),
    ("eyeLookInRight", &[("eyeLookLeftR", 1.0)]),
    ("eyeLookOutLeft", &[("eyeLookLeftL", 1.0)]),
    ("eyeLookOutRight", &[("eyeLookRightR", 1.0)]),
    ("eyeLookUpLeft", &[("eyeLookUpL", 1.0)]),
    ("eyeLookUpRight", &[("eyeLookUpR", 1.0)]),
    ("eyeSquintLeft", &[("eyeSquintInnerL", 1.0)]),
    ("eyeSquintRight", &[("eyeSquintInnerR", 1.0)]),
    ("eyeWideLeft", &[("eyeWidenL", 1.0)]),
    ("eyeWideRight", &[("eyeWidenR", 1.0)]),
    ("jawForward", &[("jawFwd", 1.0)]),
    ("jawLeft", &[("jawLeft", 1.0)]),
    ("jawOpen", &[("jawOpen", 1.0)]),
    ("jawRight", &[("jawRight", 1.0)]),
    ("mouthClose", &[("mouthLipsTogetherUL", 1.0), ("mouthLipsTogetherUR", 1.0), ("mouthLipsTogetherDL", 1.0), ("mouthLipsTogetherDR", 1.0)]),
    ("mouthDimpleLeft", &[("mouthDimpleL", 1.0)]),
    ("mouthDimpleRight", &[("mouthDimpleR", 1.0)]),
    ("mouthFrownLeft", &[("mouthCornerDepressL", 1.0)]),
    ("mouthFrownRight", &[("mouthCornerDepressR", 1.0)]),
    ("mouthFunnel", &[("mouthFunnelUL", 1.0), ("mouthFunnelUR", 1.0), ("mouthFunnelDL", 1.0), ("mouthFunnelDR", 1.0)]),
    ("mouthLeft", &[("mouthLeft", 1.0)]),
    ("mouthLowerDownLeft", &[("mouthLowerLipDepressL", 1.0)]),
    ("mouthLowerDownRight", &[("mouthLowerLipDepressR", 1.0)]),
    ("mouthPressLeft", &[("mouthPressUL", 1.0), ("mouthPressDL", 1.0)]),
    ("mouthPressRight", &[("mouthPressUR", 1.0), ("mouthPressDR", 1.0)]),
    ("mouthPucker", &[("mouthLipsPurseUL", 1.0), ("mouthLipsPurseUR", 1.0), ("mouthLipsPurseDL", 1.0), ("mouthLipsPurseDR", 1.0)]),
    ("mouthRight", &[("mouthRight", 1.0)]),
    ("mouthRollLower", &[("mouthLowerLipRollInL", 1.0), ("mouthLowerLipRollInR", 1.0)]),
    ("mouthRollUpper", &[("mouthUpperLipRollInL", 1.0), ("mouthUpperLipRollInR", 1.0)]),
    ("mouthShrugLower", &[("jawChinRaiseDL", 1.0), ("jawChinRaiseDR", 1.0)]),
    ("mouthShrugUpper", &[("jawChinRaiseUL", 1.0), ("jawChinRaiseUR", 1.0)]),
    ("mouthSmileLeft", &[("mouthCornerPullL", 1.0)]),
    ("mouthSmileRight", &[("mouthCornerPullR", 1.0)]),
    ("mouthStretchLeft", &[("mouthStretchL", 1.0)]),
    ("mouthStretchRight", &[("mouthStretchR", 1.0)]),
    ("mouthUpperUpLeft", &[("mouthUpperLipRaiseL", 1.0)]),
    ("mouthUpperUpRight", &[("mouthUpperLipRaiseR", 1.0)]),
    ("noseSneerLeft", &[("noseWrinkleL", 1.0)]),
    ("noseSneerRight", &[("noseWrinkleR", 1.0)]),
    ("tongueOut", &[("tongueOut", 1.0)]),
];

/// Shapes of ARKit that a rig may lack, by others that it may have; the first row whose shapes all
/// exist counts.
#[rustfmt::skip]
pub(super) const FALLBACKS: &[Recipe] = &[
    ("browInnerUp", &[("browOuterUpLeft", 0.5), ("browOuterUpRight", 0.5)]),
    ("browOuterUpLeft", &[("browInnerUp", 0.3)]),
    ("browOuterUpRight", &[("browInnerUp", 0.3)]),
    ("cheekSquintLeft", &[("eyeSquintLeft", 0.5)]),
    ("cheekSquintRight", &[("eyeSquintRight", 0.5)]),
    ("eyeSquintLeft", &[("cheekSquintLeft", 0.6)]),
    ("eyeSquintRight", &[("cheekSquintRight", 0.6)]),
    ("eyeSquintLeft", &[("eyeBlinkLeft", 0.3)]),
    ("eyeSquintRight", &[("eyeBlinkRight", 0.3)]),
    ("mouthLeft", &[("jawLeft", 0.5)]),
    ("mouthRight", &[("jawRight", 0.5)]),
    ("jawLeft", &[("mouthLeft", 0.5)]),
    ("jawRight", &[("mouthRight", 0.5)]),
    ("mouthDimpleLeft", &[("mouthSmileLeft", 0.3)]),
    ("mouthDimpleRight", &[("mouthSmileRight", 0.3)]),
    ("mouthStretchLeft", &[("mouthSmileLeft", 0.3)]),
    ("mouthStretchRight", &[("mouthSmileRight", 0.3)]),
    ("mouthFunnel", &[("mouthPucker", 0.6)]),
    ("mouthPucker", &[("mouthFunnel", 0.6)]),
    ("mouthUpperUpLeft", &[("noseSneerLeft", 0.6)]),
    ("mouthUpperUpRight", &[("noseSneerRight", 0.6)]),
    ("noseSneerLeft", &[("mouthUpperUpLeft", 0.4)]),
    ("noseSneerRight", &[("mouthUpperUpRight", 0.4)]),
    ("mouthPressLeft", &[("mouthRollLower", 0.2), ("mouthRollUpper", 0.2)]),
    ("mouthPressRight", &[("mouthRollLower", 0.2), ("mouthRollUpper", 0.2)]),
    ("mouthRollLower", &[("mouthPressLeft", 0.3), ("mouthPressRight", 0.3)]),
    ("mouthRollUpper", &[("mouthPressLeft", 0.3), ("mouthPressRight", 0.3)]),
    ("mouthShrugUpper", &[("mouthUpperUpLeft", 0.2), ("mouthUpperUpRight", 0.2)]),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Vocabulary;

    #[test]
    fn recipes_name_existing_shapes_once() {
        let arkit = Vocabulary::Arkit.names();
        let known = |name: &str| arkit.iter().any(|other| other == name);
        for (from, parts) in TO_ARKIT.iter().chain(FALLBACKS) {
            for (k, (name, gain)) in parts.iter().enumerate() {
                assert!(known(name) && *gain > 0.0, "{from}: {name}");
                assert!(!parts[..k].iter().any(|(other, _)| other == name), "{from}");
            }
        }
        for (from, parts) in METAHUMAN {
            assert!(known(from), "{from}");
            assert!(!parts.is_empty());
        }
        assert_eq!(METAHUMAN.len(), arkit.len());
    }
}
