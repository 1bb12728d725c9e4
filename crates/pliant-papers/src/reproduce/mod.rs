//! Tables and figures of the papers, computed on open models, with the published values beside
//! ours.
//!
//! Each reproduction is one page, and [`REPRODUCTIONS`] is the table of all pages: name, title,
//! paper, and the chapters with their places in the paper. No file is written until all pages are
//! computed.
//!
//! - `pose/`: Çetinaslan 2016, chapters 3 and 4.
//! - `touch/`: Çetinaslan 2016, chapter 5.
//! - `blend/`: Ma et al. 2012.
//! - `transfer/`: Wang, Lee 2008.
//! - `learn/`: Huang et al. 2012.
//! - `capture/`: performances, with peers instead of a paper.
//! - `chapter`: the sections of a page; `output`: pages on disk; `error`: what can fail.
//! - `data`: the models, built in or in a data folder.
//! - `numerals`: numbers as tables show them; `lcg`: pseudo-random numbers.

mod blend;
mod capture;
mod chapter;
mod data;
mod error;
mod lcg;
mod learn;
mod numerals;
mod output;
mod pose;
mod touch;
mod transfer;

use std::path::Path;

use pliant_mesh::{Progress, ProgressPart};
use web_time::Instant;

use crate::page::{Page, Section};
pub use chapter::ChapterEntry;
pub use data::{Data, Model};
pub use error::ReproduceError;
pub use output::ReproductionReport;

/// One page of tables and figures.
#[derive(Debug, Clone, Copy)]
pub struct Reproduction {
    /// The name on the command line and of the folder.
    pub name: &'static str,
    /// The title of the page.
    pub title: &'static str,
    /// The publication.
    pub paper: &'static str,
    chapters: fn() -> Vec<ChapterEntry>,
    sections: fn(&Data, &dyn Progress) -> Result<Vec<Section>, ReproduceError>,
}

/// All reproductions, in the order of the pages.
pub const REPRODUCTIONS: &[Reproduction] = &[
    Reproduction {
        name: "pose",
        title: "Direct manipulation of a face (Çetinaslan 2016, ch. 3 and 4)",
        paper: "Çetinaslan, \"Position Manipulation Techniques for Facial Animation\", thesis, \
                University of Porto, 2016, chapters 3 and 4",
        chapters: pose::entries,
        sections: pose::sections,
    },
    Reproduction {
        name: "touch",
        title: "Soft patches of a face (Çetinaslan 2016, ch. 5)",
        paper: "Çetinaslan, \"Position Manipulation Techniques for Facial Animation\", thesis, \
                University of Porto, 2016, chapter 5",
        chapters: touch::entries,
        sections: touch::sections,
    },
    Reproduction {
        name: "blend",
        title: "Physical blendshapes (Ma et al. 2012)",
        paper: "Ma, Wang, Fyffe, Chen and Debevec, \"A blendshape model that incorporates physical \
                interaction\", Computer Animation and Virtual Worlds 23, 2012",
        chapters: blend::entries,
        sections: blend::sections,
    },
    Reproduction {
        name: "transfer",
        title: "Example-driven animation synthesis (Wang, Lee 2008)",
        paper: "Wang and Lee, \"Example-driven animation synthesis\", The Visual Computer 24, 2008",
        chapters: transfer::entries,
        sections: transfer::sections,
    },
    Reproduction {
        name: "learn",
        title: "Deformation from sparse examples (Huang et al. 2012)",
        paper: "Huang, Yin, Zhao, Qi, Yu and Tong, \"Detail-preserving controllable deformation \
                from sparse examples\", IEEE Transactions on Visualization and Computer Graphics \
                18, 2012",
        chapters: learn::entries,
        sections: learn::sections,
    },
    Reproduction {
        name: "capture",
        title: "Performances on rigs, against simple peers",
        paper: "Planted performances: a plain copy of channels, and non-negative least squares for each \
                frame (Lawson and Hanson, \"Solving least squares problems\", 1974), are the peers",
        chapters: capture::entries,
        sections: capture::sections,
    },
];

impl Reproduction {
    /// The chapters in the order of the page, with their places in the paper.
    #[must_use]
    pub fn chapters(&self) -> Vec<ChapterEntry> {
        (self.chapters)()
    }

    fn page(&self, data: &Data, progress: &dyn Progress) -> Result<Page, ReproduceError> {
        let sections = (self.sections)(data, progress)?;
        Ok(Page::new(self.title, self.paper)
            .with_sections(sections)
            .with_parent("../index.html", "All reproductions")
            .with_dark_mode()
            .with_command(format!("pliant reproduce {}", self.name)))
    }
}

/// Computes the reproductions called `names`, or all of them if there are none, and writes them
/// into the folder `out`, which is created if it does not exist.
///
/// # Errors
/// An unknown name, models that cannot be read, files that cannot be written, stopped work.
pub fn run(
    names: &[impl AsRef<str>],
    data: &Data,
    out: &Path,
    progress: &dyn Progress,
) -> Result<ReproductionReport, ReproduceError> {
    let chosen = chosen(names)?;
    output::require_folder(out)?;

    let mut pages = Vec::with_capacity(chosen.len());
    for (k, reproduction) in chosen.iter().enumerate() {
        let part = ProgressPart {
            whole: progress,
            begin: k as f64 / chosen.len() as f64,
            size: 1.0 / chosen.len() as f64,
        };
        pages.push(reproduction.page(data, &part)?);
    }

    output::write(out, &chosen, pages)
}

/// The reproductions of these names in the order of the table, each once.
fn chosen(names: &[impl AsRef<str>]) -> Result<Vec<&'static Reproduction>, ReproduceError> {
    for name in names {
        require_known(name.as_ref())?;
    }

    let mut chosen = Vec::new();
    for reproduction in REPRODUCTIONS {
        if names.is_empty() || names.iter().any(|name| name.as_ref() == reproduction.name) {
            chosen.push(reproduction);
        }
    }
    Ok(chosen)
}

fn require_known(name: &str) -> Result<(), ReproduceError> {
    let known: Vec<&str> = REPRODUCTIONS
        .iter()
        .map(|reproduction| reproduction.name)
        .collect();
    if known.contains(&name) {
        return Ok(());
    }
    Err(ReproduceError::Unknown {
        name: name.to_owned(),
        known: known.join(", "),
    })
}

/// Milliseconds since `began`.
fn milliseconds(began: Instant) -> f64 {
    began.elapsed().as_secs_f64() * 1e3
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ops::ControlFlow;

    #[test]
    fn each_name_chooses_its_reproduction_once_and_no_name_chooses_all() {
        let names = |chosen: Vec<&Reproduction>| chosen.iter().map(|r| r.name).collect::<Vec<_>>();
        assert_eq!(names(chosen(&["pose", "pose"]).unwrap()), ["pose"]);
        assert_eq!(chosen(&[""; 0]).unwrap().len(), REPRODUCTIONS.len());

        let message = chosen(&["pose", "prose"]).unwrap_err().to_string();
        assert!(
            message.contains("'prose'") && message.contains("pose"),
            "{message}"
        );
    }

    #[test]
    fn every_chapter_has_a_name_of_its_own_and_a_place_in_the_paper() {
        for reproduction in REPRODUCTIONS {
            let chapters = reproduction.chapters();
            assert!(!chapters.is_empty(), "{}", reproduction.name);
            for (k, chapter) in chapters.iter().enumerate() {
                assert!(!chapter.place.is_empty(), "{}", chapter.name);
                assert!(chapters[..k].iter().all(|other| other.name != chapter.name));
            }
        }
    }

    #[test]
    fn stopped_work_returns_the_stopped_error_and_writes_nothing() {
        struct Stop;
        impl Progress for Stop {
            fn report(&self, _: &str, _: f64) -> ControlFlow<()> {
                ControlFlow::Break(())
            }
        }

        let place = tempfile::tempdir().unwrap();
        let out = place.path().join("out");
        let stopped = run(&["pose"], &Data::built_in(), &out, &Stop);

        assert!(matches!(stopped, Err(ReproduceError::Stopped(_))) && !out.exists());
    }
}
