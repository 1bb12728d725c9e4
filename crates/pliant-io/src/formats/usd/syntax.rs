//! Parser of USDA text: the part of the grammar that one layer needs.

use std::fmt::Display;
use std::rc::Rc;

use super::layer::{Layer, Prim, Property, PropertyValue, Reference, Retiming, Value, VariantSet};
use crate::ReadError;
use crate::parse::text::{excerpt, number};

/// Chosen: prims nested deeper are rejected; real scenes are far below.
pub(super) const GREATEST_DEPTH: usize = 64;

/// Parses a layer.
pub(super) fn parse(bytes: &[u8]) -> Result<Layer, ReadError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if !bytes.starts_with(b"#usda") && !bytes.starts_with(b"#sdf") {
        return Err(ReadError::line(
            1,
            "the file begins neither with '#usda 1.0' nor as a binary layer or an archive",
        ));
    }

    let mut parser = Parser { bytes, at: 0 };
    let mut layer = Layer::default();
    parser.space();

    if parser.peek() == Some(b'(') {
        layer.metadata = parser.metadata()?;
    }

    while parser.has_more() {
        let word = parser.identifier(&"a prim")?;
        match word.as_str() {
            "def" | "over" | "class" => layer.prims.push(Rc::new(parser.prim(word, 0)?)),
            "reorder" => parser.reorder()?,
            _ => return Err(parser.wrong_word(&word, &"'def', 'over' or 'class'")),
        }
    }

    Ok(layer)
}

struct Parser<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Parser<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn error(&self, message: impl Into<String>) -> ReadError {
        let line = 1 + self.bytes[..self.at]
            .iter()
            .filter(|&&b| b == b'\n')
            .count();
        ReadError::line(line, message)
    }

    /// The error for finding another text than `what`.
    fn wrong(&self, what: &dyn Display) -> ReadError {
        let rest = &self.bytes[self.at..];
        let end = rest
            .iter()
            .position(|b| b.is_ascii_whitespace())
            .unwrap_or(rest.len());

        match end {
            0 if rest.is_empty() => self.error(format!(
                "the file ends where {what} is needed; it is cut off, export it again"
            )),
            _ => self.error(format!(
                "expected {what}, found '{}'",
                excerpt(&rest[..end.min(16)])
            )),
        }
    }

    fn wrong_word(&self, word: &str, what: &dyn Display) -> ReadError {
        self.error(format!(
            "expected {what}, found '{}'",
            excerpt(word.as_bytes())
        ))
    }

    /// Skips space, comments and the semicolons that may end statements.
    fn space(&mut self) {
        while let Some(byte) = self.peek() {
            let rest = &self.bytes[self.at..];
            if byte == b'#' || rest.starts_with(b"//") {
                self.at += rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len());
            } else if rest.starts_with(b"/*") {
                let end = rest.windows(2).position(|pair| pair == b"*/");
                self.at += end.map_or(rest.len(), |end| end + 2);
            } else if byte.is_ascii_whitespace() || byte == b';' {
                self.at += 1;
            } else {
                break;
            }
        }
    }

    /// Whether anything follows.
    fn has_more(&mut self) -> bool {
        self.space();
        self.peek().is_some()
    }

    /// Skips `byte` if it comes next.
    fn accept(&mut self, byte: u8) -> bool {
        self.space();
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, byte: u8, what: &dyn Display) -> Result<(), ReadError> {
        if self.accept(byte) {
            Ok(())
        } else {
            Err(self.wrong(what))
        }
    }

    fn identifier(&mut self, what: &dyn Display) -> Result<String, ReadError> {
        self.space();
        let rest = &self.bytes[self.at..];
        // Names of properties contain namespaces (`:`) and aspects (`.`); names may be Unicode.
        let part =
            |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b':' | b'.') || !b.is_ascii();
        let end = rest.iter().position(|b| !part(b)).unwrap_or(rest.len());

        if end == 0 {
            return Err(self.wrong(what));
        }

        self.at += end;
        Ok(String::from_utf8_lossy(&rest[..end]).into_owned())
    }

    fn prim(&mut self, specifier: String, depth: usize) -> Result<Prim, ReadError> {
        if depth >= GREATEST_DEPTH {
            return Err(self.error(format!("prims are nested more than {GREATEST_DEPTH} deep")));
        }

        self.space();
        let kind = if matches!(self.peek(), Some(b'"' | b'\'')) {
            String::new()
        } else {
            self.identifier(&"the type of a prim")?
        };

        self.space();
        let name = self.string(&"the name of a prim in quotes")?;
        let mut prim = Prim {
            specifier,
            kind,
            name,
            ..Prim::default()
        };

        self.body(&mut prim, depth)?;
        Ok(prim)
    }

    /// The metadata and statements of a prim or variant.
    fn body(&mut self, prim: &mut Prim, depth: usize) -> Result<(), ReadError> {
        self.space();
        if self.peek() == Some(b'(') {
            prim.metadata = self.metadata()?;
        }

        let what = format!("the body of prim '{}'", excerpt(prim.name.as_bytes()));
        self.expect(b'{', &what)?;
        while !self.accept(b'}') {
            self.statement(prim, depth, &what)?;
        }
        Ok(())
    }

    fn statement(
        &mut self,
        prim: &mut Prim,
        depth: usize,
        what: &dyn Display,
    ) -> Result<(), ReadError> {
        let word = self.identifier(what)?;
        match word.as_str() {
            "def" | "over" | "class" => {
                let child = self.prim(word, depth + 1)?;
                prim.children.push(Rc::new(child));
            }
            "reorder" => self.reorder()?,
            "variantSet" => prim.variant_sets.push(self.variant_set(depth)?),
            _ => prim.properties.push(self.property(word)?),
        }

        Ok(())
    }

    /// `"name" = { "variant" { … } … }`.
    fn variant_set(&mut self, depth: usize) -> Result<VariantSet, ReadError> {
        if depth >= GREATEST_DEPTH {
            return Err(self.error(format!("prims are nested more than {GREATEST_DEPTH} deep")));
        }

        self.space();
        let name = self.string(&"the name of a variant set")?;
        self.expect(b'=', &"'=' after a variant set")?;
        self.expect(b'{', &"the variants in braces")?;

        let mut variants = Vec::new();
        while !self.accept(b'}') {
            let mut variant = Prim {
                name: self.string(&"the name of a variant in quotes, or '}',")?,
                ..Prim::default()
            };
            self.body(&mut variant, depth + 1)?;
            variants.push(Rc::new(variant));
        }

        Ok(VariantSet { name, variants })
    }

    fn reorder(&mut self) -> Result<(), ReadError> {
        self.identifier(&"what to reorder")?;
        self.expect(b'=', &"'='")?;
        self.value().map(drop)
    }

    fn property(&mut self, first: String) -> Result<Property, ReadError> {
        const MODIFIERS: [&str; 9] = [
            "custom", "uniform", "varying", "config", "add", "append", "prepend", "delete",
            "reorder",
        ];

        // Modifiers come before the type and change nothing for a reader.
        let mut kind = first;
        while MODIFIERS.contains(&kind.as_str()) {
            kind = self.identifier(&"the type of a property")?;
        }
        if self.accept(b'[') {
            self.expect(b']', &"']' of an array's type")?;
        }

        let full = self.identifier(&"the name of a property")?;
        let (name, aspect) = full
            .split_once('.')
            .map_or((full.as_str(), ""), |(name, aspect)| (name, aspect));
        let value = self.property_value(aspect)?;

        let is_connection = aspect == "connect";

        // A decimal of a single-precision type means the nearest such number.
        let name = name.to_owned();
        let value = if is_single(&kind) {
            value.rounded()
        } else {
            value
        };

        self.space();
        let metadata = if self.peek() == Some(b'(') {
            self.metadata()?
        } else {
            Vec::new()
        };

        if is_connection {
            return Ok(Property::connection(&name, value));
        }
        Ok(Property {
            kind,
            name,
            value,
            metadata,
        })
    }

    /// The value after the name of a property, if there is one.
    fn property_value(&mut self, aspect: &str) -> Result<PropertyValue, ReadError> {
        if !self.accept(b'=') {
            return Ok(PropertyValue::Constant(Value::Nothing));
        }

        match aspect {
            "timeSamples" => Ok(PropertyValue::Samples(self.samples()?)),
            "" | "connect" => Ok(PropertyValue::Constant(self.value()?)),
            _ => {
                // A spline, which is not needed.
                self.space();
                if self.peek() == Some(b'{') {
                    self.balanced()?;
                } else {
                    self.value()?;
                }
                Ok(PropertyValue::Constant(Value::Nothing))
            }
        }
    }

    /// Samples by time code, ascending, each code once.
    fn samples(&mut self) -> Result<Vec<(f64, Value)>, ReadError> {
        self.expect(b'{', &"the time samples in braces")?;
        let mut samples = Vec::new();
        while !self.accept(b'}') {
            let code = self.number(&"a time code")?;
            self.expect(b':', &"':' after a time code")?;
            let value = self.value()?;
            if !code.is_finite() {
                return Err(self.error(format!("the time code {code} is not finite")));
            }
            samples.push((code, value));
            self.accept(b',');
        }

        // A value of `None` blocks the sample and gives nothing to interpolate.
        samples.sort_by(|a, b| a.0.total_cmp(&b.0));
        samples.dedup_by(|later, earlier| later.0 == earlier.0);
        samples.retain(|(_, value)| *value != Value::Nothing);

        Ok(samples)
    }

    /// `( key = value … )`, where a bare string is a comment.
    fn metadata(&mut self) -> Result<Vec<(String, Value)>, ReadError> {
        self.expect(b'(', &"'('")?;
        let mut entries = Vec::new();
        while !self.accept(b')') {
            if matches!(self.peek(), Some(b'"' | b'\'')) {
                self.string(&"a comment")?;
                continue;
            }

            let mut key = self.identifier(&"a key of metadata, or ')',")?;
            let mut adds = true;
            if matches!(
                key.as_str(),
                "add" | "append" | "prepend" | "delete" | "reorder"
            ) {
                adds = !matches!(key.as_str(), "delete" | "reorder");
                key = self.identifier(&"a key of metadata")?;
            }

            self.expect(b'=', &"'=' after a key of metadata")?;
            let value = match key.as_str() {
                "references" | "payload" | "subLayers" => self.references()?,
                "variants" => self.selections()?,
                _ => self.value()?,
            };
            if adds {
                entries.push((key, value));
            }
            self.accept(b',');
        }

        Ok(entries)
    }

    /// One reference, a list of references, or `None`.
    fn references(&mut self) -> Result<Value, ReadError> {
        self.space();
        let mut references = Vec::new();
        match self.peek() {
            Some(b'@' | b'<') => references.push(self.reference()?),
            Some(b'[') => {
                self.expect(b'[', &"'['")?;
                while !self.accept(b']') {
                    references.push(self.reference()?);
                    self.accept(b',');
                }
            }
            _ => return self.value(),
        }
        Ok(Value::References(references))
    }

    /// `@layer@</prim> (offset = …; scale = …)`, of which each part but one may be missing.
    fn reference(&mut self) -> Result<Reference, ReadError> {
        self.space();
        let asset = match self.peek() {
            Some(b'@') => self.asset()?,
            Some(b'<') => String::new(),
            _ => return Err(self.wrong(&"a layer or prim to refer to")),
        };

        self.space();
        let prim = match self.peek() {
            Some(b'<') => self.until(b"<", b">", &"'>' of a path")?,
            _ => String::new(),
        };

        let retiming = self.retiming()?;
        Ok(Reference {
            asset,
            prim,
            retiming,
        })
    }

    /// `(offset = …; scale = …)` after a reference, if there is one.
    fn retiming(&mut self) -> Result<Retiming, ReadError> {
        let mut retiming = Retiming::default();
        if !self.accept(b'(') {
            return Ok(retiming);
        }

        while !self.accept(b')') {
            let key = self.identifier(&"a key of a reference, or ')',")?;
            self.expect(b'=', &"'=' after a key of a reference")?;
            let value = self.value()?;
            match (key.as_str(), value.number()) {
                ("offset", Some(offset)) => retiming.offset = offset,
                ("scale", Some(scale)) => retiming.scale = scale,
                _ => {}
            }
            self.accept(b',');
        }
        Ok(retiming)
    }

    /// `{ string set = "variant" … }`.
    fn selections(&mut self) -> Result<Value, ReadError> {
        self.expect(b'{', &"the selected variants in braces")?;
        let mut selections = Vec::new();
        while !self.accept(b'}') {
            self.identifier(&"the type 'string'")?;
            self.space();
            let set = match self.peek() {
                Some(b'"' | b'\'') => self.string(&"the name of a variant set")?,
                _ => self.identifier(&"the name of a variant set")?,
            };
            self.expect(b'=', &"'=' after a variant set")?;
            self.space();
            selections.push((set, self.string(&"the name of a variant in quotes")?));
            self.accept(b',');
        }
        Ok(Value::Selections(selections))
    }

    fn value(&mut self) -> Result<Value, ReadError> {
        self.space();
        match self.peek() {
            Some(b'(') => {
                let mut values = Vec::new();
                let width = self.tuple(&mut values, 0)?;
                Ok(Value::list(width, values))
            }
            Some(b'[') => self.list(),
            Some(b'{') => self.balanced().map(|()| Value::Opaque),
            Some(byte) if is_text(byte) => self.text().map(Value::Text),
            Some(byte) if is_number(byte) => self.number(&"a number").map(Value::Number),
            _ => self.identifier(&"a value").map(word_value),
        }
    }

    /// Numbers in parentheses, flat; returns how many.
    fn tuple(&mut self, values: &mut Vec<f64>, depth: usize) -> Result<usize, ReadError> {
        self.expect(b'(', &"'('")?;
        let before = values.len();
        while !self.accept(b')') {
            if self.peek() == Some(b'(') && depth < 2 {
                self.tuple(values, depth + 1)?;
            } else {
                values.push(self.number(&"a number of a tuple")?);
            }
            self.accept(b',');
        }

        Ok(values.len() - before)
    }

    fn list(&mut self) -> Result<Value, ReadError> {
        self.expect(b'[', &"'['")?;
        let mut width = 0;
        let mut values = Vec::new();
        let mut texts = Vec::new();
        while !self.accept(b']') {
            match self.peek() {
                Some(byte) if is_text(byte) => texts.push(self.text()?),
                _ => {
                    let found = self.list_item(&mut values)?;
                    if width != 0 && width != found {
                        return Err(self.error(format!(
                            "a list holds entries of {width} and of {found} numbers"
                        )));
                    }
                    width = found;
                }
            }
            self.accept(b',');
        }

        match (values.is_empty(), texts.is_empty()) {
            (_, true) => Ok(Value::list(width.max(1), values)),
            (true, false) => Ok(Value::Texts(texts)),
            (false, false) => Err(self.error("a list holds both numbers and texts")),
        }
    }

    /// A number, tuple or truth value of a list.
    fn list_item(&mut self, values: &mut Vec<f64>) -> Result<usize, ReadError> {
        match self.peek() {
            Some(b'(') => self.tuple(values, 0),
            Some(byte) if is_number(byte) => {
                values.push(self.number(&"a number of a list")?);
                Ok(1)
            }
            _ => {
                let word = self.identifier(&"an entry of a list, or ']',")?;
                values.push(match word_value(word.clone()) {
                    Value::Number(value) => value,
                    _ => return Err(self.wrong_word(&word, &"an entry of a list")),
                });
                Ok(1)
            }
        }
    }

    fn number(&mut self, what: &dyn Display) -> Result<f64, ReadError> {
        self.space();
        let rest = &self.bytes[self.at..];
        let end = rest
            .iter()
            .position(|&b| !is_number(b) && !b.is_ascii_alphabetic())
            .unwrap_or(rest.len());

        // A number at the end of the file may be cut off.
        match number(&rest[..end]) {
            Some(value) if end > 0 && end < rest.len() => {
                self.at += end;
                Ok(value)
            }
            Some(_) => {
                self.at = self.bytes.len();
                Err(self.wrong(what))
            }
            None => Err(self.wrong(what)),
        }
    }

    /// A string, path or asset.
    fn text(&mut self) -> Result<String, ReadError> {
        match self.peek() {
            Some(b'<') => self.until(b"<", b">", &"'>' of a path"),
            Some(b'@') => self.asset(),
            _ => self.string(&"a text in quotes"),
        }
    }

    /// The path of a file, in `@` or `@@@`.
    fn asset(&mut self) -> Result<String, ReadError> {
        let marks: &[u8] = if self.bytes[self.at..].starts_with(b"@@@") {
            b"@@@"
        } else {
            b"@"
        };
        self.until(marks, marks, &"'@' of an asset")
    }

    /// The text between two marks.
    fn until(
        &mut self,
        open: &[u8],
        close: &[u8],
        what: &dyn Display,
    ) -> Result<String, ReadError> {
        let inside = &self.bytes[self.at + open.len()..];
        let Some(end) = inside.windows(close.len()).position(|w| w == close) else {
            return Err(self.error(format!(
                "the file ends where {what} is needed; it is cut off, export it again"
            )));
        };

        self.at += open.len() + end + close.len();
        Ok(String::from_utf8_lossy(&inside[..end]).into_owned())
    }

    fn string(&mut self, what: &dyn Display) -> Result<String, ReadError> {
        let quote = match self.peek() {
            Some(quote @ (b'"' | b'\'')) => quote,
            _ => return Err(self.wrong(what)),
        };
        // Triple quotes allow line breaks.
        let triple = self.bytes[self.at..].starts_with(&[quote; 3]);
        let mark: &[u8] = if triple { &[quote; 3] } else { &[quote] };
        let start = self.at;

        self.at += mark.len();
        let mut text = Vec::new();
        while let Some(byte) = self.peek() {
            if self.bytes[self.at..].starts_with(mark) {
                self.at += mark.len();
                return Ok(String::from_utf8_lossy(&text).into_owned());
            }

            self.at += 1;
            match byte {
                b'\\' => {
                    let next = self.peek().unwrap_or(b'\\');
                    self.at = (self.at + 1).min(self.bytes.len());
                    text.push(escaped(next));
                }
                b'\n' if !triple => break,
                _ => text.push(byte),
            }
        }

        self.at = start;
        Err(self.error("a text in quotes does not end"))
    }

    /// Skips a text in brackets of any kind.
    fn balanced(&mut self) -> Result<(), ReadError> {
        self.space();
        let mut depth = 0_usize;
        while let Some(byte) = self.peek() {
            match byte {
                b'{' | b'(' | b'[' => depth += 1,
                b'}' | b')' | b']' => depth = depth.saturating_sub(1),
                b'"' | b'\'' => {
                    self.string(&"a text in quotes")?;
                    self.space();
                    continue;
                }
                _ => {}
            }

            self.at += 1;
            if depth == 0 {
                return Ok(());
            }

            self.space();
        }

        Err(self.wrong(&"a closing bracket"))
    }
}

fn is_text(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'' | b'<' | b'@')
}

fn is_number(byte: u8) -> bool {
    byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b'.')
}

fn escaped(byte: u8) -> u8 {
    match byte {
        b'n' => b'\n',
        b't' => b'\t',
        b'r' => b'\r',
        other => other,
    }
}

fn word_value(word: String) -> Value {
    match word.as_str() {
        "None" => Value::Nothing,
        "true" | "True" => Value::Number(1.0),
        "false" | "False" => Value::Number(0.0),
        "inf" => Value::Number(f64::INFINITY),
        "nan" => Value::Number(f64::NAN),
        _ => Value::Text(word),
    }
}

/// Whether a type is of single precision, as `float`, `point3f` and `quatf` are.
fn is_single(kind: &str) -> bool {
    kind.starts_with("float") || (kind.ends_with('f') && kind != "half")
}
