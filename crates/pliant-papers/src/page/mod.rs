//! Static HTML pages with figures, tables, SVG plots, pictures and files; they need no network.
//!
//! - `section`: a [`Section`] of a page.
//! - `table`, `plot`: a [`Table`] and a [`Plot`]; `svg`: a plot as SVG text.
//! - `axis`: positions and ticks of an [`Axis`]; `labels`: words beside points.
//! - `viewer`: a mesh or a clip that can be turned and played.
//! - `palette`: the colours of light and dark pages.
//!
//! ```
//! use pliant_papers::page::{Axis, Best, Marks, Page, Plot, Section, Series, Table};
//!
//! let mut section = Section::new("Speed", "How long one solve takes.");
//! let mut table = Table::new("Medians of nine.", ["method", "ms"]).with_best(1, Best::Least);
//! table.push(["ours", "0.4"]);
//! table.push(["theirs", "9.1"]);
//! section.table(table);
//! let size = Axis::logarithmic("vertices");
//! let plot = Plot::new("Growth", size, Axis::logarithmic("time, ms"))
//!     .with_series(Series::new("ours", Marks::LineAndPoints, [[1e3, 0.4], [1e4, 5.0], [1e5, 71.0]]));
//! section.plot(plot, "Nearly linear.");
//! let page = Page::new("Report", "What we measured.").with_section(section);
//! assert!(page.html().contains("</svg>"));
//! ```

mod axis;
mod labels;
mod palette;
mod plot;
mod section;
mod svg;
mod table;
mod viewer;

use std::fmt::Write;
use std::path::{Path, PathBuf};

pub use axis::Axis;
pub use plot::{Marks, Plot, Point, Series};
pub use section::Section;
use section::{File, Part};
pub use table::{Best, Table};
pub use viewer::{VIEWER_PAGE, viewer_page};

const PAGE_STYLE: &str = include_str!("page.css");
const PLOT_STYLE: &str = include_str!("plot.css");

/// A title and sections in order.
#[derive(Debug, Clone, Default)]
pub struct Page {
    title: String,
    text: String,
    command: String,
    dark_mode: bool,
    picture: Option<File>,
    parent: Option<(String, String)>,
    sections: Vec<Section>,
}

impl Page {
    /// A page without sections, with a light background.
    #[must_use]
    pub fn new(title: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            text: text.into(),
            ..Self::default()
        }
    }

    /// The page with one more section.
    #[must_use]
    pub fn with_section(mut self, section: Section) -> Self {
        self.sections.push(section);
        self
    }

    /// The page with more sections.
    #[must_use]
    pub fn with_sections(mut self, sections: impl IntoIterator<Item = Section>) -> Self {
        self.sections.extend(sections);
        self
    }

    /// The command that writes the page, for its last line.
    #[must_use]
    pub fn with_command(self, command: impl Into<String>) -> Self {
        Self {
            command: command.into(),
            ..self
        }
    }

    /// The page with dark colours where the reader's system prefers them.
    #[must_use]
    pub fn with_dark_mode(self) -> Self {
        Self {
            dark_mode: true,
            ..self
        }
    }

    /// The page with a PNG picture at the top.
    #[must_use]
    pub fn with_picture(self, file: &str, caption: &str, png: Vec<u8>) -> Self {
        Self {
            picture: Some(File::new(file, caption, png)),
            ..self
        }
    }

    /// The page with a link to its parent page.
    #[must_use]
    pub fn with_parent(self, address: &str, words: &str) -> Self {
        Self {
            parent: Some((address.to_owned(), words.to_owned())),
            ..self
        }
    }

    /// The title.
    #[must_use]
    pub fn title(&self) -> &str {
        &self.title
    }

    /// Every file beside the page: its name and its bytes.
    pub fn files(&self) -> impl Iterator<Item = (&str, &[u8])> {
        let files = self.parts().flat_map(Part::all_files).chain(&self.picture);
        files.map(|file| (file.name.as_str(), file.bytes.as_slice()))
    }

    /// Every figure: its section, its name and its value.
    pub fn figures(&self) -> impl Iterator<Item = (&str, &str, &str)> {
        self.sections.iter().flat_map(|section| {
            let figures = section.figures.iter();
            figures.map(|(name, value)| (&*section.title, &**name, &**value))
        })
    }

    /// Every table.
    pub fn tables(&self) -> impl Iterator<Item = &Table> {
        self.parts().flat_map(|part| &part.tables)
    }

    /// Every warning of a section.
    pub fn warnings(&self) -> impl Iterator<Item = &str> {
        self.sections
            .iter()
            .flat_map(|section| &section.warnings)
            .map(String::as_str)
    }

    /// The paths and contents of the page and its files in `folder`, the page last.
    #[must_use]
    pub fn in_folder(&self, folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
        let mut files: Vec<_> = self
            .files()
            .map(|(name, bytes)| (folder.join(name), bytes.to_vec()))
            .collect();
        files.push((folder.join("index.html"), self.html().into_bytes()));
        files
    }

    fn parts(&self) -> impl Iterator<Item = &Part> {
        self.sections.iter().flat_map(|section| &section.parts)
    }

    /// The page as HTML text.
    #[must_use]
    pub fn html(&self) -> String {
        let mut html = self.head();
        if let Some(File { name, caption, .. }) = &self.picture {
            let _ = writeln!(
                html,
                "<figure><img src=\"{}\" alt=\"{}\"></figure>",
                escaped(name),
                escaped(caption)
            );
        }

        self.write_nav(&mut html);
        for (k, section) in self.sections.iter().enumerate() {
            section.write_html(k, &mut html);
        }
        self.write_foot(&mut html);
        html
    }

    /// Links to the parent page and to all sections.
    fn write_nav(&self, html: &mut String) {
        html.push_str("<nav>");
        if let Some((address, words)) = &self.parent {
            let _ = write!(
                html,
                "<a href=\"{}\">{}</a>",
                escaped(address),
                escaped(words)
            );
        }
        for (k, section) in self.sections.iter().enumerate() {
            let _ = write!(html, "<a href=\"#s{k}\">{}</a>", escaped(&section.title));
        }
        html.push_str("</nav>\n");
    }

    fn head(&self) -> String {
        let title = escaped(&self.title);
        let text = escaped(&self.text);
        let light = palette::LIGHT.variables();
        let dark = if self.dark_mode {
            format!(
                "@media (prefers-color-scheme: dark) {{ :root {{ color-scheme: dark; {} }} }}\n",
                palette::DARK.variables()
            )
        } else {
            String::new()
        };

        format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{title}</title>\n<style>\n\
             :root {{ color-scheme: light; {light} }}\n{dark}{PAGE_STYLE}{PLOT_STYLE}</style>\n</head>\n<body>\n<main>\n\
             <header><h1>{title}</h1><p>{text}</p></header>\n"
        )
    }

    fn write_foot(&self, html: &mut String) {
        html.push_str("<footer>");
        if !self.command.is_empty() {
            let _ = write!(html, "Written by <code>{}</code>. ", escaped(&self.command));
        }
        html.push_str(
            "All pictures are drawn by a software renderer that gives the same bytes on every machine; all \
             times were measured on this machine.</footer>\n</main>\n</body>\n</html>\n",
        );
    }
}

/// Text with the special characters of HTML and XML escaped; characters that XML cannot contain
/// become a replacement character.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\t' | '\n' | '\r' => safe.push(c),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => safe.push('\u{fffd}'),
            c => safe.push(c),
        }
    }

    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_characters_are_escaped() {
        let mut section = Section::new("<b>", "a & b");
        section.figure("x", "\"1\"");
        section.warning("<i>");
        section.paragraph("</p>");
        section.link("a\"b", "<u>");

        let html = Page::new("</title>", "</header>")
            .with_section(section)
            .with_command("<code>")
            .html();

        let safe = [
            "&lt;b&gt;",
            "a &amp; b",
            "&quot;1&quot;",
            "&lt;i&gt;",
            "&lt;/p&gt;",
            "a&quot;b",
            "&lt;u&gt;",
            "&lt;/title&gt;",
        ];

        assert!(safe.iter().all(|text| html.contains(text)), "{html}");
        assert_eq!(html.matches("</header>").count(), 1);
        assert_eq!(html.matches("<code>").count(), 1);
    }

    #[test]
    fn what_follows_a_paragraph_stands_below_it() {
        let mut section = Section::new("", "");
        section.file("first.txt", "", Vec::new());
        section.paragraph("between");
        section.table(Table::new("second", ["a"]));
        let html = Page::default().with_section(section).html();
        let place = |text: &str| html.find(text).expect("on the page");
        assert!(place("first.txt") < place("between") && place("between") < place("second"));
    }

    #[test]
    fn a_page_refers_to_no_network_address() {
        let mut section = Section::new("s", "t");
        section.plot(Plot::new("p", Axis::linear("x"), Axis::linear("y")), "c");
        let page = Page::new("p", "t").with_section(section).with_dark_mode();
        assert!(!page.html().contains("http"), "a page needs no network");
    }

    #[test]
    fn only_pages_with_dark_mode_have_dark_colours() {
        assert!(!Page::new("a", "b").html().contains("prefers-color-scheme"));
        assert!(
            Page::new("a", "b")
                .with_dark_mode()
                .html()
                .contains("prefers-color-scheme: dark")
        );
    }
}
