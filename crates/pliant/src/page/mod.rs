//! Pages of words, figures, tables, plots, pictures and files: one HTML file, with its pictures
//! beside it, that needs no network.
//!
//! ```
//! use pliant::page::{Axis, Best, Marks, Page, Plot, Section, Series, Table};
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
mod svg;
mod table;

use std::fmt::Write;
use std::path::{Path, PathBuf};

use pliant_view::{Image, ViewError, to_apng};

pub use axis::Axis;
pub use plot::{Marks, Plot, Point, Series};
pub use table::{Best, Table};

const PAGE_STYLE: &str = include_str!("page.css");
const PLOT_STYLE: &str = include_str!("plot.css");

/// Sections in order, under a title.
#[derive(Debug, Clone, Default)]
pub struct Page {
    title: String,
    text: String,
    made_by: String,
    dark_too: bool,
    picture: Option<File>,
    up: Option<(String, String)>,
    sections: Vec<Section>,
}

/// A part of a page: a title, words and figures, then whatever is put below them.
#[derive(Debug, Clone, Default)]
pub struct Section {
    title: String,
    text: String,
    figures: Vec<(String, String)>,
    problems: Vec<String>,
    parts: Vec<Part>,
}

/// What stands below one paragraph.
#[derive(Debug, Clone, Default)]
struct Part {
    text: String,
    tables: Vec<Table>,
    plots: Vec<(Plot, String)>,
    wide: Vec<File>,
    small: Vec<File>,
    files: Vec<File>,
    links: Vec<(String, String)>,
}

/// A file beside the page.
#[derive(Debug, Clone)]
struct File {
    name: String,
    caption: String,
    bytes: Vec<u8>,
}

impl Section {
    /// A section with its first words.
    #[must_use]
    pub fn new(title: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            text: text.into(),
            parts: vec![Part::default()],
            ..Self::default()
        }
    }

    /// A figure with its name, at the top of the section.
    pub fn figure(&mut self, name: &str, value: impl Into<String>) {
        self.figures.push((name.to_owned(), value.into()));
    }

    /// Says that something is missing or odd.
    pub fn problem(&mut self, text: impl Into<String>) {
        self.problems.push(text.into());
    }

    /// Words below all that is here; what is added next stands below them. Between two paragraphs
    /// tables come first, then plots, wide pictures, small ones and files.
    pub fn paragraph(&mut self, text: impl Into<String>) {
        self.parts.push(Part {
            text: text.into(),
            ..Part::default()
        });
    }

    /// A table.
    pub fn table(&mut self, table: Table) {
        self.part().tables.push(table);
    }

    /// A plot, beside others where there is room.
    pub fn plot(&mut self, plot: Plot, caption: impl Into<String>) {
        self.part().plots.push((plot, caption.into()));
    }

    /// A picture across the page.
    pub fn wide(&mut self, file: &str, caption: &str, image: &Image) -> Result<(), ViewError> {
        let file = File::new(file, caption, image.to_png()?);
        self.part().wide.push(file);
        Ok(())
    }

    /// A picture beside others.
    pub fn small(&mut self, file: &str, caption: &str, image: &Image) -> Result<(), ViewError> {
        let file = File::new(file, caption, image.to_png()?);
        self.part().small.push(file);
        Ok(())
    }

    /// A moving picture beside others.
    pub fn moving(
        &mut self,
        file: &str,
        caption: &str,
        frames: &[Image],
        frame_millis: u16,
    ) -> Result<(), ViewError> {
        let file = File::new(file, caption, to_apng(frames, frame_millis)?);
        self.part().small.push(file);
        Ok(())
    }

    /// A file to take along.
    pub fn file(&mut self, file: &str, caption: &str, bytes: Vec<u8>) {
        let file = File::new(file, caption, bytes);
        self.part().files.push(file);
    }

    /// A way to another page, relative to this one.
    pub fn link(&mut self, address: &str, words: &str) {
        self.part()
            .links
            .push((address.to_owned(), words.to_owned()));
    }

    fn part(&mut self) -> &mut Part {
        self.parts.last_mut().expect("a section begins with a part")
    }

    fn write_html(&self, number: usize, html: &mut String) {
        let _ = writeln!(
            html,
            "<section id=\"s{number}\">\n<h2>{}</h2>\n<p>{}</p>",
            escaped(&self.title),
            escaped(&self.text)
        );
        if !self.figures.is_empty() {
            html.push_str("<dl>");
            for (name, value) in &self.figures {
                let _ = write!(
                    html,
                    "<div><dt>{}</dt><dd>{}</dd></div>",
                    escaped(name),
                    escaped(value)
                );
            }
            html.push_str("</dl>\n");
        }
        for problem in &self.problems {
            let _ = writeln!(html, "<p class=\"problem\">{}</p>", escaped(problem));
        }
        self.parts.iter().for_each(|part| part.write_html(html));
        html.push_str("</section>\n");
    }
}

impl Part {
    fn write_html(&self, html: &mut String) {
        if !self.text.is_empty() {
            let _ = writeln!(html, "<p>{}</p>", escaped(&self.text));
        }
        self.tables.iter().for_each(|table| table.write_html(html));
        if !self.plots.is_empty() {
            html.push_str("<div class=\"plots\">");
            for (plot, caption) in &self.plots {
                let _ = write!(
                    html,
                    "<figure>{}<figcaption>{}</figcaption></figure>",
                    svg::inline(plot),
                    escaped(caption)
                );
            }
            html.push_str("</div>\n");
        }
        write_pictures(&self.wide, "wide", html);
        write_pictures(&self.small, "row", html);
        self.write_links(html);
    }

    fn write_links(&self, html: &mut String) {
        if self.files.is_empty() && self.links.is_empty() {
            return;
        }
        html.push_str("<p class=\"files\">");
        for File { name, caption, .. } in &self.files {
            let _ = write!(
                html,
                "<a href=\"{0}\" download>{0}</a> <span>{1}</span> ",
                escaped(name),
                escaped(caption)
            );
        }
        for (address, words) in &self.links {
            let _ = write!(
                html,
                "<a href=\"{}\">{}</a> ",
                escaped(address),
                escaped(words)
            );
        }
        html.push_str("</p>\n");
    }

    fn all_files(&self) -> impl Iterator<Item = &File> {
        self.wide.iter().chain(&self.small).chain(&self.files)
    }
}

impl File {
    fn new(name: &str, caption: &str, bytes: Vec<u8>) -> Self {
        Self {
            name: name.to_owned(),
            caption: caption.to_owned(),
            bytes,
        }
    }
}

fn write_pictures(pictures: &[File], class: &str, html: &mut String) {
    if pictures.is_empty() {
        return;
    }
    let _ = write!(html, "<div class=\"{class}\">");
    for File { name, caption, .. } in pictures {
        let (file, caption) = (escaped(name), escaped(caption));
        let _ = write!(
            html,
            "<figure><img src=\"{file}\" alt=\"{caption}\" loading=\"lazy\"><figcaption>{caption}</figcaption></figure>"
        );
    }
    html.push_str("</div>\n");
}

impl Page {
    /// A page without sections, on light paper.
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

    /// The command that makes the page, for its last line.
    #[must_use]
    pub fn made_by(self, command: impl Into<String>) -> Self {
        Self {
            made_by: command.into(),
            ..self
        }
    }

    /// Dark where the reader's screen is.
    #[must_use]
    pub fn dark_too(self) -> Self {
        Self {
            dark_too: true,
            ..self
        }
    }

    /// The page with a picture at its top, as a PNG.
    #[must_use]
    pub fn with_picture(self, file: &str, caption: &str, png: Vec<u8>) -> Self {
        Self {
            picture: Some(File::new(file, caption, png)),
            ..self
        }
    }

    /// The page with a way back to the page above it.
    #[must_use]
    pub fn with_way_up(self, address: &str, words: &str) -> Self {
        Self {
            up: Some((address.to_owned(), words.to_owned())),
            ..self
        }
    }

    /// What the page is about.
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
    pub fn figures<'a>(&'a self) -> impl Iterator<Item = (&'a str, &'a str, &'a str)> {
        let named = |section: &'a Section| {
            section
                .figures
                .iter()
                .map(move |(name, value)| (&*section.title, &**name, &**value))
        };
        self.sections.iter().flat_map(named)
    }

    /// Every table.
    pub fn tables(&self) -> impl Iterator<Item = &Table> {
        self.parts().flat_map(|part| &part.tables)
    }

    /// Every problem that a section names.
    pub fn problems(&self) -> impl Iterator<Item = &str> {
        self.sections
            .iter()
            .flat_map(|section| &section.problems)
            .map(String::as_str)
    }

    /// The page and the files beside it as they will lie in `folder`, the page last.
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

    /// The page.
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
        html.push_str("<nav>");
        if let Some((address, words)) = &self.up {
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
        for (k, section) in self.sections.iter().enumerate() {
            section.write_html(k, &mut html);
        }
        self.write_foot(&mut html);
        html
    }

    fn head(&self) -> String {
        let (title, text, light) = (
            escaped(&self.title),
            escaped(&self.text),
            palette::LIGHT.variables(),
        );
        let dark = match self.dark_too {
            true => format!(
                "@media (prefers-color-scheme: dark) {{ :root {{ color-scheme: dark; {} }} }}\n",
                palette::DARK.variables()
            ),
            false => String::new(),
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
        if !self.made_by.is_empty() {
            let _ = write!(html, "Made by <code>{}</code>. ", escaped(&self.made_by));
        }
        html.push_str(
            "Every picture comes from a software renderer that gives the same bytes on every machine; every time was measured on this \
             one.</footer>\n</main>\n</body>\n</html>\n",
        );
    }
}

/// Text that HTML and XML show as it is; characters that XML cannot hold become a mark.
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
    fn words_cannot_break_the_page() {
        let mut section = Section::new("<b>", "a & b");
        section.figure("x", "\"1\"");
        section.problem("<i>");
        section.paragraph("</p>");
        section.link("a\"b", "<u>");
        let html = Page::new("</title>", "</header>")
            .with_section(section)
            .made_by("<code>")
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
    fn a_page_names_no_other_place() {
        let mut section = Section::new("s", "t");
        section.plot(Plot::new("p", Axis::linear("x"), Axis::linear("y")), "c");
        let page = Page::new("p", "t").with_section(section).dark_too();
        assert!(!page.html().contains("http"), "a page needs no network");
    }

    #[test]
    fn only_pages_that_say_so_turn_dark() {
        assert!(!Page::new("a", "b").html().contains("prefers-color-scheme"));
        assert!(
            Page::new("a", "b")
                .dark_too()
                .html()
                .contains("prefers-color-scheme: dark")
        );
    }
}
