//! Colours of pages and plots, on light and on dark screens.
//!
//! **Problem.** Six colours that every reader can distinguish on both backgrounds, also with
//! dichromatic vision.
//!
//! **Method.** A search from common hues maximised the least distance between any two colours (CIE
//! 1976) in trichromatic and dichromatic vision (Machado, Oliveira, Fernandes 2009), at a contrast
//! of at least 3 to the background.

/// Colours as CSS writes them.
pub(super) struct Palette {
    pub(super) ink: &'static str,
    pub(super) soft: &'static str,
    pub(super) line: &'static str,
    pub(super) paper: &'static str,
    pub(super) accent: &'static str,
    pub(super) series: [&'static str; SERIES],
}

/// Series beyond this many share colours, but not marks.
pub(super) const SERIES: usize = 6;

pub(super) const LIGHT: Palette = Palette {
    ink: "#2b2a29",
    soft: "#6f6a66",
    line: "#e4e0dc",
    paper: "#fbfaf8",
    accent: "#a4563c",
    series: [
        "#1e50cc", "#ce7e1c", "#18a264", "#a17daf", "#653f00", "#211448",
    ],
};

pub(super) const DARK: Palette = Palette {
    ink: "#ece9e6",
    soft: "#a8a29d",
    line: "#3a3735",
    paper: "#1b1a19",
    accent: "#e0967b",
    series: [
        "#7087f5", "#dc511b", "#26da79", "#cb74ad", "#ffec48", "#cfffeb",
    ],
};

impl Palette {
    /// The colours as CSS variables.
    pub(super) fn variables(&self) -> String {
        let series: String = self
            .series
            .iter()
            .enumerate()
            .map(|(k, color)| format!(" --s{k}: {color};"))
            .collect();

        let Self {
            ink,
            soft,
            line,
            paper,
            accent,
            ..
        } = self;

        format!(
            "--ink: {ink}; --soft: {soft}; --line: {line}; --paper: {paper}; --accent: {accent};{series}"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Linear light of an `#rrggbb` colour.
    fn linear(color: &str) -> [f64; 3] {
        [1, 3, 5].map(|k| {
            let c = f64::from(u8::from_str_radix(&color[k..k + 2], 16).unwrap()) / 255.0;
            if c <= 0.04045 {
                c / 12.92
            } else {
                ((c + 0.055) / 1.055).powf(2.4)
            }
        })
    }

    fn luminance([r, g, b]: [f64; 3]) -> f64 {
        0.2126 * r + 0.7152 * g + 0.0722 * b
    }

    /// The contrast of two colours as WCAG 2 defines it.
    fn contrast(a: &str, b: &str) -> f64 {
        let (a, b) = (luminance(linear(a)), luminance(linear(b)));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    /// CIE L*a*b* of linear light, white being D65.
    fn lab([r, g, b]: [f64; 3]) -> [f64; 3] {
        let f = |t: f64| {
            if t > 0.008856 {
                t.cbrt()
            } else {
                7.787 * t + 16.0 / 116.0
            }
        };

        let x = f((0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.95047);
        let y = f(luminance([r, g, b]));
        let z = f((0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.08883);

        [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
    }

    /// What eyes see of linear light: common ones, and those without one kind of cone (Machado et
    /// al. 2009, severity 1).
    const EYES: [[[f64; 3]; 3]; 4] = [
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ],
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ],
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ],
    ];

    fn seen(color: &str, eye: &[[f64; 3]; 3]) -> [f64; 3] {
        let light = linear(color);
        eye.map(|row| {
            row.iter()
                .zip(light)
                .map(|(m, c)| m * c)
                .sum::<f64>()
                .clamp(0.0, 1.0)
        })
    }

    #[test]
    fn words_and_series_stand_out_from_the_paper() {
        for palette in [LIGHT, DARK] {
            assert!(
                contrast(palette.ink, palette.paper) >= 7.0
                    && contrast(palette.soft, palette.paper) >= 4.5
            );
            assert!(
                palette
                    .series
                    .iter()
                    .all(|color| contrast(color, palette.paper) >= 3.0)
            );
        }
    }

    #[test]
    fn no_kind_of_eye_takes_one_series_for_another() {
        for palette in [LIGHT, DARK] {
            for (k, a) in palette.series.iter().enumerate() {
                for b in &palette.series[k + 1..] {
                    for eye in &EYES {
                        let a = lab(seen(a, eye));
                        let b = lab(seen(b, eye));
                        let distance = a
                            .iter()
                            .zip(b)
                            .map(|(a, b)| (a - b) * (a - b))
                            .sum::<f64>()
                            .sqrt();
                        assert!(distance > 25.0, "{a:?} and {b:?} are {distance} apart");
                    }
                }
            }
        }
    }
}
