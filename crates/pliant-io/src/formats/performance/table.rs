//! Reader of performances in a table (CSV): one row for each frame, one column for each channel.
//!
//! **Format.** The first row names the columns. `Timecode`, a column of times or one of numbers of
//! frames gives the clock; `BlendShapeCount` and columns without any number are no channels. So
//! written are the takes of Live Link Face (61 channels), Rokoko and Faceware.
//!
//! **Departures.** What is certain is read: a byte-order mark, UTF-16 with or without one, a first line
//! `sep=;` of spreadsheets, cells in quotation marks, tabs or semicolons as separators, decimal commas
//! between them, decimal commas between commas if every number of every row has one, empty cells at
//! the end of a row, a last row that was cut off. An empty cell, `NA` and `NaN` are missing values.
//! Everything else is an error with its line and column.

use std::borrow::Cow;

use pliant_rig::{Channel, Performance, RigError, Timecode};

use super::PerformanceOptions;
use super::clock::Clock;
use crate::ReadError;
use crate::parse::text::{Lines, excerpt, number};

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Column {
    Timecode,
    Time,
    Frame,
    /// A number that says nothing about the performance.
    Ignored,
    Channel,
}

/// A column while it is read.
struct ColumnValues {
    name: String,
    kind: Column,
    values: Vec<f64>,
    /// How many cells were numbers.
    numbers: usize,
    /// The first cell that was no number: its line and its text.
    text: Option<(usize, String)>,
}

/// Reads a table of channels.
///
/// # Errors
/// A table without a header or without frames, rows of unequal length, cells that are not numbers;
/// each with its line and column.
pub(super) fn read(bytes: &[u8], options: &PerformanceOptions) -> Result<Performance, ReadError> {
    let text = decoded(bytes)?;
    let ends_with_line = text.ends_with(['\n', '\r']);
    let mut lines: Vec<(usize, &[u8])> = Lines::of(text.as_bytes()).collect();
    lines.retain(|(_, line)| {
        let line = line.trim_ascii();
        !line.is_empty() && !line.starts_with(b"#")
    });
    let declared = lines.first().and_then(|(_, line)| declared_separator(line));
    if declared.is_some() {
        lines.remove(0);
    }
    let Some(&(head_line, head)) = lines.first() else {
        return Err(ReadError::whole(
            "the table has no row; the first row names the columns",
        ));
    };

    let separator = declared.unwrap_or_else(|| separator_of(head));
    let names = cells(head, separator);
    check_header(&names).map_err(|message| ReadError::line(head_line, message))?;
    let mut columns: Vec<ColumnValues> = names.iter().map(|name| ColumnValues::new(name)).collect();
    let mut labels: Vec<Timecode> = Vec::new();
    let mut row_lines = Vec::new();
    let mut notes = repeated_names(&names);
    let mut all_joined = None;

    let last = lines.len() - 1;
    for (k, &(line, row)) in lines.iter().enumerate().skip(1) {
        let mut values = cells(row, separator);
        while values.len() > columns.len() && values.last().is_some_and(|cell| cell.is_empty()) {
            values.pop();
        }
        if values.len() < columns.len() && k == last && k > 1 && !ends_with_line {
            notes.push(format!(
                "line {line}, the last, is cut off; it was left out"
            ));
            break;
        }
        let joined = if separator == b',' && values.len() > columns.len() {
            joined(&values, &columns)
        } else {
            None
        };
        if joined.is_none() && values.len() != columns.len() {
            return Err(ReadError::line(line, wrong_count(&values, &columns)));
        }
        // One row without decimal commas makes the others doubtful.
        let is_joined = joined.is_some();
        if *all_joined.get_or_insert(is_joined) != is_joined {
            let message = "decimal commas between commas are ambiguous, since not all rows have them: export with semicolons or decimal points";
            return Err(ReadError::line(line, message));
        }

        let cells = joined
            .as_deref()
            .map_or(values, |joined| joined.iter().map(String::as_str).collect());
        row_lines.push(line);
        for (column, cell) in columns.iter_mut().zip(&cells) {
            match column.kind {
                Column::Ignored => {}
                Column::Timecode => labels.push(label(cell, separator, &column.name, line)?),
                _ => column.push(cell, separator, line)?,
            }
        }
    }
    if all_joined == Some(true) {
        notes.push("every number has a decimal comma; commas were read as such in pairs".into());
    }

    let rows = lines.len() - 1;
    if rows == 0 {
        return Err(ReadError::line(
            head_line,
            "the table has a header but no frame; give one row for each frame",
        ));
    }
    performance(columns, labels, &row_lines, notes, options)
}

impl ColumnValues {
    fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            kind: kind_of(name),
            values: Vec::new(),
            numbers: 0,
            text: None,
        }
    }

    fn push(&mut self, cell: &str, separator: u8, line: usize) -> Result<(), ReadError> {
        let value = match value(cell, separator) {
            Cell::Number(value) => value,
            Cell::Missing => {
                self.values.push(f64::NAN);
                return Ok(());
            }
            Cell::Infinite => return Err(self.not_a_number(cell, line)),
            Cell::Text => {
                // A column of text only is no channel; that is known at the end.
                self.text
                    .get_or_insert_with(|| (line, excerpt(cell.as_bytes())));
                f64::NAN
            }
        };

        self.numbers += usize::from(!value.is_nan());
        self.values.push(value);
        match &self.text {
            Some((line, text)) if self.numbers > 0 => Err(self.not_a_number(text, *line)),
            _ => Ok(()),
        }
    }

    /// The values of a clock, which must have one in each row.
    fn all_values(&self, row_lines: &[usize]) -> Result<&[f64], ReadError> {
        match self.values.iter().position(|value| value.is_nan()) {
            None => Ok(&self.values),
            Some(row) => Err(ReadError::line(
                row_lines[row],
                format!(
                    "column '{}': the row has no time; fill the cell, or remove the row",
                    excerpt(self.name.as_bytes())
                ),
            )),
        }
    }

    fn not_a_number(&self, cell: &str, line: usize) -> ReadError {
        ReadError::line(
            line,
            format!(
                "column '{}': '{}' is not a finite number; correct the cell, or leave it empty where the value is missing",
                excerpt(self.name.as_bytes()),
                excerpt(cell.as_bytes())
            ),
        )
    }
}

/// The performance of columns that are read.
fn performance(
    columns: Vec<ColumnValues>,
    labels: Vec<Timecode>,
    row_lines: &[usize],
    mut notes: Vec<String>,
    options: &PerformanceOptions,
) -> Result<Performance, ReadError> {
    // Labels are preferred to times, times to numbers of frames.
    let numeric = |kind: Column| {
        columns
            .iter()
            .find(|column| column.kind == kind && column.numbers > 0)
    };
    let clock = if !labels.is_empty() {
        Clock::Timecode(labels)
    } else if let Some(column) = numeric(Column::Time) {
        Clock::Times(column.all_values(row_lines)?.to_vec(), column.name.clone())
    } else if let Some(column) = numeric(Column::Frame) {
        Clock::Frames(column.all_values(row_lines)?.to_vec())
    } else {
        Clock::Absent(row_lines.len())
    };
    let times = clock.frame_times(options, None)?;

    let mut channels = Vec::new();
    let mut ignored = Vec::new();
    for column in columns {
        let is_clock = matches!(column.kind, Column::Time | Column::Frame);
        if column.kind != Column::Channel && !(is_clock && column.text.is_some()) {
            continue;
        }
        if column.numbers == 0 {
            ignored.push(column.name);
            continue;
        }
        let values = times.rows.iter().map(|&row| column.values[row]).collect();
        channels.push(Channel::new(column.name, values));
    }

    if channels.is_empty() {
        return Err(ReadError::whole(
            "the table has no column of numbers besides time; give one for each channel",
        ));
    }
    if !ignored.is_empty() {
        notes.push(format!("columns without numbers: {}", ignored.join(", ")));
    }

    notes.extend(times.notes);
    let made = Performance::new("", times.times_secs, times.frames_per_second, channels);
    let mut performance = made.map_err(|error: RigError| ReadError::from(error))?;
    performance.timecode = times.timecode;
    performance.notes = notes;
    Ok(performance)
}

/// The text of the file. UTF-16 is recognised by its byte-order mark, or by the zero bytes beside its
/// first two letters.
pub(super) fn decoded(bytes: &[u8]) -> Result<Cow<'_, str>, ReadError> {
    let units = |bytes: &[u8], from: fn([u8; 2]) -> u16| {
        let pairs = bytes.chunks_exact(2).map(|pair| from([pair[0], pair[1]]));
        char::decode_utf16(pairs)
            .collect::<Result<String, _>>()
            .map(Cow::Owned)
            .map_err(|_| ReadError::whole("the text is not valid UTF-16; save the table as UTF-8"))
    };
    let text = match bytes {
        [0xff, 0xfe, rest @ ..] => units(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => units(rest, u16::from_be_bytes),
        [a, 0, b, 0, ..] if *a != 0 && *b != 0 => units(bytes, u16::from_le_bytes),
        [0, a, 0, b, ..] if *a != 0 && *b != 0 => units(bytes, u16::from_be_bytes),
        _ => std::str::from_utf8(bytes)
            .map(Cow::Borrowed)
            .map_err(|error| {
                ReadError::byte(
                    error.valid_up_to(),
                    "the file is not text; save the table as UTF-8",
                )
            }),
    }?;
    match text.find('\0') {
        None => Ok(text),
        Some(at) => Err(ReadError::byte(
            at,
            "the file holds a zero byte, so it is not text; save the table as UTF-8",
        )),
    }
}

/// The separator of a first line `sep=;`, which spreadsheets write.
fn declared_separator(line: &[u8]) -> Option<u8> {
    match line.trim_ascii_start().to_ascii_lowercase()[..] {
        [
            b's',
            b'e',
            b'p',
            b'=',
            separator @ (b',' | b';' | b'\t'),
            ..,
        ] => Some(separator),
        _ => None,
    }
}

/// The separator that occurs most often outside quotation marks; of equally frequent ones the comma, then
/// the semicolon. Tabs beside commas are space around cells.
fn separator_of(row: &[u8]) -> u8 {
    const SEPARATORS: [u8; 3] = [b'\t', b';', b','];
    let mut quoted = false;
    let mut counts = [0_usize; 3];
    for byte in row {
        quoted ^= *byte == b'"';
        if let Some(k) = SEPARATORS.iter().position(|s| s == byte && !quoted) {
            counts[k] += 1;
        }
    }
    // The last of equal ones is taken.
    let most = (0..3).max_by_key(|&k| counts[k]);
    most.map_or(b',', |k| SEPARATORS[k])
}

/// A note on names that several columns have.
fn repeated_names(names: &[&str]) -> Vec<String> {
    let mut repeated: Vec<&str> = Vec::new();
    for (k, name) in names.iter().enumerate() {
        let is_channel = kind_of(name) == Column::Channel;
        if is_channel && names[..k].contains(name) && !repeated.contains(name) {
            repeated.push(name);
        }
    }
    if repeated.is_empty() {
        return Vec::new();
    }
    let listed: Vec<String> = repeated.iter().map(|n| excerpt(n.as_bytes())).collect();
    vec![format!(
        "several columns have the name {}; the later ones were numbered, as in {}#2",
        listed.join(", "),
        listed[0]
    )]
}

/// The cells of a row; separators inside quotation marks belong to a cell.
fn cells(row: &[u8], separator: u8) -> Vec<&str> {
    let mut cells = Vec::new();
    let mut start = 0;
    let mut quoted = false;
    for k in 0..=row.len() {
        if k < row.len() && row[k] == b'"' {
            quoted = !quoted;
        }
        if k == row.len() || (row[k] == separator && !quoted) {
            let cell = std::str::from_utf8(&row[start..k])
                .expect("a part of UTF-8 text between ASCII bytes is UTF-8")
                .trim();
            let inner = cell
                .strip_prefix('"')
                .and_then(|cell| cell.strip_suffix('"'));
            cells.push(inner.unwrap_or(cell).trim());
            start = k + 1;
        }
    }
    cells
}

fn check_header(names: &[&str]) -> Result<(), String> {
    let numbers = names
        .iter()
        .filter(|name| number(name.as_bytes()).is_some() || Timecode::parse(name).is_some());
    if numbers.count() > 0 {
        return Err(
            "the first row holds numbers, but it must name the columns, as Timecode,EyeBlinkLeft,…; add a header"
                .into(),
        );
    }
    if names.len() < 2 && kind_of(names[0]) != Column::Channel {
        return Err("the table has one column; give one for each channel".into());
    }
    Ok(())
}

fn kind_of(name: &str) -> Column {
    let letters: String = name
        .chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect();
    match letters.as_str() {
        "timecode" | "tc" | "smpte" | "smptetimecode" => Column::Timecode,
        "time" | "t" | "timestamp" | "seconds" | "secs" | "sec" | "times" | "timesec"
        | "timesecs" | "timeseconds" | "timeinseconds" | "ms" | "timems" | "milliseconds"
        | "timestampms" | "timeus" | "timestampus" | "microseconds" => Column::Time,
        "frame" | "frames" | "framenumber" | "frameindex" | "frameid" | "index" => Column::Frame,
        "blendshapecount" | "" => Column::Ignored,
        _ => Column::Channel,
    }
}

fn label(cell: &str, separator: u8, column: &str, line: usize) -> Result<Timecode, ReadError> {
    // A spreadsheet with decimal commas changes the fraction of a frame, too.
    let with_point = || (separator != b',').then(|| Timecode::parse(&cell.replacen(',', ".", 1)));
    let parsed = Timecode::parse(cell).or_else(|| with_point().flatten());
    parsed.ok_or_else(|| {
        ReadError::line(
            line,
            format!(
                "column '{column}': '{}' is not a timecode; write it as 13:04:31:07",
                excerpt(cell.as_bytes())
            ),
        )
    })
}

enum Cell {
    Number(f64),
    Missing,
    Infinite,
    Text,
}

fn value(cell: &str, separator: u8) -> Cell {
    let is_missing = ["", "na", "n/a", "null", "none", "-"]
        .iter()
        .any(|word| cell.eq_ignore_ascii_case(word));
    if is_missing {
        return Cell::Missing;
    }

    // A percent sign is certain: `42 %`.
    let (text, unit) = match cell.strip_suffix('%') {
        Some(text) => (text.trim_end(), 0.01),
        None => (cell, 1.0),
    };
    let parsed = number(text.as_bytes()).or_else(|| {
        let decimal = text.matches(',').count() == 1 && !text.contains('.');
        (separator != b',' && decimal)
            .then(|| number(text.replacen(',', ".", 1).as_bytes()))
            .flatten()
    });
    match parsed {
        Some(value) if value.is_finite() => Cell::Number(value * unit),
        Some(value) if value.is_nan() => Cell::Missing,
        Some(_) => Cell::Infinite,
        None => Cell::Text,
    }
}

/// The cells of a row in which every number has a decimal comma between commas; `None` for others.
fn joined(cells: &[&str], columns: &[ColumnValues]) -> Option<Vec<String>> {
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let mut rest = cells.iter();
    let mut joined = Vec::with_capacity(columns.len());
    for column in columns {
        let cell = *rest.next()?;
        match column.kind {
            Column::Timecode | Column::Frame | Column::Ignored => joined.push(cell.to_owned()),
            Column::Time | Column::Channel => {
                let decimals = *rest.next()?;
                if !is_digits(cell.strip_prefix('-').unwrap_or(cell)) || !is_digits(decimals) {
                    return None;
                }
                joined.push(format!("{cell}.{decimals}"));
            }
        }
    }
    rest.next().is_none().then_some(joined)
}

fn wrong_count(values: &[&str], columns: &[ColumnValues]) -> String {
    let found = values.len();
    let expected = columns.len();
    // Decimal commas between commas double the cells.
    let digits = |cell: &&str| !cell.is_empty() && cell.bytes().all(|b| b.is_ascii_digit());
    let hint = if found > expected
        && values[1..]
            .iter()
            .all(|cell| digits(&cell.trim_start_matches('-').trim()))
    {
        "; decimal commas between commas are ambiguous: export with semicolons or decimal points"
    } else if found < expected {
        "; a cell or a separator is missing"
    } else {
        "; a cell or a separator is too many"
    };
    match columns.get(found) {
        Some(column) => format!(
            "the row has {found} cells, but the header has {expected}: it ends before column {} '{}'{hint}",
            found + 1,
            excerpt(column.name.as_bytes())
        ),
        None => format!(
            "the row has {found} cells, but the header has {expected}: column {} has no name{hint}",
            expected + 1
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(text: &str) -> Performance {
        read(text.as_bytes(), &PerformanceOptions::default()).unwrap()
    }

    fn error(text: &str) -> String {
        read(text.as_bytes(), &PerformanceOptions::default())
            .unwrap_err()
            .in_file("take.csv")
            .to_string()
    }

    const LIVE_LINK: &str = "Timecode,BlendShapeCount,EyeBlinkLeft,JawOpen,HeadYaw\n\
        13:13:04:31.652,61,0.1236470118,0.5,-0.25\n\
        13:13:04:33.651,61,0.25,0,0.125\n";

    #[test]
    fn a_take_of_live_link_face_is_read_by_the_names_of_its_columns() {
        let take = take(LIVE_LINK);
        let names: Vec<&str> = take.channels().iter().map(|c| c.name.as_str()).collect();
        assert_eq!(names, ["EyeBlinkLeft", "JawOpen", "HeadYaw"]);
        assert_eq!(take.channels()[0].values, [0.1236470118, 0.25]);
        assert_eq!(take.frames_per_second().round(), 30.0);
        assert_eq!(take.timecode.unwrap().first.to_string(), "13:13:04:31.652");
    }

    #[test]
    fn other_spellings_of_the_same_table_are_the_same_take() {
        let plain = take(LIVE_LINK);
        let semicolons = LIVE_LINK.replace(',', ";").replace('.', ",");
        let tabs = LIVE_LINK.replace(',', "\t");
        let utf16: Vec<u8> = std::iter::once(0xfeff_u16)
            .chain(LIVE_LINK.encode_utf16())
            .flat_map(u16::to_le_bytes)
            .collect();
        let variants = [
            format!("\u{feff}{LIVE_LINK}").into_bytes(),
            semicolons.into_bytes(),
            tabs.into_bytes(),
            LIVE_LINK.replace('\n', "\r\n").into_bytes(),
            LIVE_LINK.replace("0.5", "\"0.5\"").into_bytes(),
            LIVE_LINK
                .replace('\n', ",,\n")
                .replacen(",,", "", 1)
                .into_bytes(),
            format!("# written by a tool\n\n{LIVE_LINK}").into_bytes(),
            utf16,
        ];
        for bytes in variants {
            let other = read(&bytes, &PerformanceOptions::default()).unwrap();
            assert_eq!(other, plain, "{}", String::from_utf8_lossy(&bytes));
        }
    }

    #[test]
    fn decimal_commas_between_commas_are_read_where_every_number_has_one() {
        let plain = "Timecode,BlendShapeCount,A,B\n1:0:0:0,61,0.25,-0.5\n1:0:0:1,61,1.00,0.125\n";
        let commas = plain.replace('.', ",");
        let found = take(&commas);
        assert_eq!(found.channels(), take(plain).channels());
        assert!(
            found
                .notes
                .iter()
                .any(|note| note.contains("decimal comma"))
        );
        assert!(error("a,b\n0,5,0,5\n0,1\n").contains("line 3"));
        assert!(error("a,b\n0,1\n0,5,0,5\n").contains("line 3"));
    }

    #[test]
    fn missing_values_stay_missing_and_text_columns_are_no_channels() {
        let take = take("time,jawOpen,scene\n0,0.5,a\n0.5,NaN,b\n1,,c\n1.5,1,d\n");
        assert_eq!(take.channels().len(), 1);
        assert_eq!(take.channels()[0].missing(), 2);
        assert!(take.notes[0].contains("scene"));
    }

    #[test]
    fn a_last_row_that_was_cut_off_is_left_out() {
        let take = take("frame,a,b\n1,0,0\n2,1,1\n3,1");
        assert_eq!(take.frame_count(), 2);
        assert!(take.notes[0].contains("line 4"), "{:?}", take.notes);
        assert!(error("frame,a,b\n1,0,0\n2,1,1\n3,1\n").contains("line 4"));
    }

    #[test]
    fn what_is_uncertain_is_an_error_with_its_place() {
        for (text, words) in [
            ("", &["no row"][..]),
            ("a,b\n", &["no frame"]),
            ("0,1\n2,3\n", &["line 1", "header"]),
            ("a,b\n0,1\n0,1,2\n", &["line 3", "3 cells", "header has 2"]),
            ("a,b,c\n0,1\n0,1,2\n", &["line 2", "'c'"]),
            ("a,b\n0,1\n0,x\n", &["line 3", "'b'", "'x'"]),
            ("a,b\n0,x\n0,1\n", &["line 2", "'b'", "'x'"]),
            ("a,b\n0,inf\n", &["line 2", "'b'", "finite"]),
            ("a,b\n0,5,1\n", &["decimal commas"]),
            ("Timecode,b\nnoon,5\n", &["line 2", "noon", "timecode"]),
            ("Timecode,b\n00:00:00:250,5\n", &["timecode-rate"]),
            ("time\n1\n", &["line 1", "one column"]),
        ] {
            let message = error(text);
            for word in words {
                assert!(message.contains(word), "'{word}' in: {message}");
            }
        }
    }

    /// What a table of an attacker or of a careless program gives: a phrase of the error, or for
    /// tables whose meaning is certain the values of the first channel (-1: missing).
    #[test]
    fn malformed_tables_are_read_if_certain_and_else_refused_with_line_and_column() {
        type Expected = Result<&'static [f64], &'static [&'static str]>;
        let utf16 = |text: &str, big: bool| -> Vec<u8> {
            let bytes = |unit: u16| {
                if big {
                    unit.to_be_bytes()
                } else {
                    unit.to_le_bytes()
                }
            };
            text.encode_utf16().flat_map(bytes).collect()
        };
        let plain = "time,a,b\n0,0.5,1\n1,0.25,0\n";
        let known: &'static [f64] = &[0.5, 0.25];
        let cases: Vec<(Vec<u8>, Expected)> = vec![
            (plain.into(), Ok(known)),
            (format!("\u{feff}{plain}").into(), Ok(known)),
            (utf16(plain, false), Ok(known)),
            (utf16(plain, true), Ok(known)),
            (utf16(&format!("\u{feff}{plain}"), true), Ok(known)),
            (plain.replace('\n', "\r").into(), Ok(known)),
            (plain.replace('\n', "\r\n").into(), Ok(known)),
            (plain.replace('\n', "\n\n").into(), Ok(known)),
            (plain.replace(',', " , ").into(), Ok(known)),
            (plain.replace(',', ",\t").into(), Ok(known)),
            (format!("sep=,\n{plain}").into(), Ok(known)),
            (
                format!("SEP=;\n{}", plain.replace(',', ";").replace('.', ",")).into(),
                Ok(known),
            ),
            (
                plain.replace("time,a", "\"time;s\",\"a\"").into(),
                Ok(known),
            ),
            (plain.replace("0.5", "50 %").into(), Ok(known)),
            (plain.replace("0.5", "5e-1").into(), Ok(known)),
            (plain.replace("0.5", "+.5").into(), Ok(known)),
            (plain.replace("0.5", "").into(), Ok(&[-1.0, 0.25])),
            (plain.replace("0.5", "nan").into(), Ok(&[-1.0, 0.25])),
            (plain.replace("0.5", "-nan(ind)").into(), Ok(&[-1.0, 0.25])),
            (
                plain.replace("0.5", "#N/A").into(),
                Err(&["line 2", "'a'", "#N/A"]),
            ),
            (
                plain.replace("0.5", "1e400").into(),
                Err(&["line 2", "'a'", "1e400"]),
            ),
            (
                plain.replace("0.5", "-inf").into(),
                Err(&["line 2", "'a'", "-inf"]),
            ),
            (
                plain.replace("0.5", "0.5f").into(),
                Err(&["line 2", "'a'", "0.5f"]),
            ),
            (
                plain.replace("0.5", "0x1p-1").into(),
                Err(&["line 2", "'a'", "0x1p-1"]),
            ),
            (
                plain.replace("0.5", "1'000").into(),
                Err(&["line 2", "'a'", "1'000"]),
            ),
            (
                plain.replace("0.5", "0.5.1").into(),
                Err(&["line 2", "'a'", "0.5.1"]),
            ),
            (
                plain.replace("0.25", "half").into(),
                Err(&["line 3", "'a'", "half"]),
            ),
            (
                plain.replace("0.5", "\"0.5").into(),
                Err(&["line 2", "2 cells"]),
            ),
            (
                plain.replace(",1\n", "\n").into(),
                Err(&["line 2", "column 3", "'b'"]),
            ),
            (
                plain.replace(",1\n", ",1,7\n").into(),
                Err(&["line 2", "column 4"]),
            ),
            (plain.replace("a,b", "a,a").into(), Ok(known)),
            (plain.replace("time", "a").into(), Ok(&[0.0, 1.0])),
            (
                plain.replace("\n1,", "\n,").into(),
                Err(&["line 3", "'time'", "no time"]),
            ),
            (
                plain.replace("\n1,", "\nlate,").into(),
                Err(&["line 3", "'time'", "late"]),
            ),
            (plain[9..].into(), Err(&["line 1", "header"])),
            (b"time,a,b".to_vec(), Err(&["line 1", "no frame"])),
            (b"\xef\xbb\xbf".to_vec(), Err(&["no row"])),
            (b"\n\n\n".to_vec(), Err(&["no row"])),
            (b"sep=;\n".to_vec(), Err(&["no row"])),
            (
                b"time,a\0,b\n0,1,2\n".to_vec(),
                Err(&["byte 6", "zero byte"]),
            ),
            (b"time,\xe4,b\n0,1,2\n".to_vec(), Err(&["byte 5", "UTF-8"])),
            (b"\xff\xfe\x00\xd8a\x00".to_vec(), Err(&["UTF-16"])),
            (
                b"PK\x03\x04\x14\x00\x06\x00".to_vec(),
                Err(&["byte 5", "zero byte"]),
            ),
            ("a,b\n".repeat(3).into(), Err(&["no column of numbers"])),
            (
                format!("{plain}{plain}").into(),
                Err(&["line 4", "'time'", "time"]),
            ),
            (
                format!("x,{}\n0,1\n", "y".repeat(100_000)).into(),
                Ok(&[0.0]),
            ),
            (
                format!("x,y\n0,{}\n", "9".repeat(400)).into(),
                Err(&["line 2", "'y'", "999…"]),
            ),
        ];

        for (bytes, expected) in cases {
            let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(200)]).into_owned();
            let found = read(&bytes, &PerformanceOptions::default());
            match (found, expected) {
                (Ok(take), Ok(values)) => {
                    let own = take.channels()[0].values.iter();
                    let own: Vec<f64> = own.map(|v| if v.is_nan() { -1.0 } else { *v }).collect();
                    assert_eq!(own, values, "{shown:?}");
                }
                (Err(error), Err(words)) => {
                    let message = error.in_file("take.csv").to_string();
                    assert!(!message.contains('\n'), "{message}");
                    assert!(message.len() < 300, "{message}");
                    for word in words {
                        assert!(message.contains(word), "'{word}' in: {message}");
                    }
                }
                (found, _) => panic!("{shown:?} gives {found:?}"),
            }
        }
    }

    #[test]
    fn columns_of_one_name_and_clocks_without_numbers_are_reported() {
        let twice = take("time,a,a\n0,0.5,1\n1,0.25,0\n");
        assert!(twice.notes[0].contains("a#2"), "{:?}", twice.notes);
        let dates = take("time,a\n2026-01-02T10:00,0.5\n2026-01-02T10:01,1\n");
        assert!(
            dates
                .notes
                .iter()
                .any(|n| n.contains("without numbers: time")),
            "{:?}",
            dates.notes
        );
    }
}
