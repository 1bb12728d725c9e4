//! `pliant schema`: the schemas describe what commands print with `--json`.

#[allow(dead_code, reason = "other tests use the rest of the module")]
mod command;

use std::collections::BTreeSet;

use command::{folder, inside, json, pliant};
use serde_json::Value;

/// The schema of the report of a command of one or two words.
fn schema(command: &str) -> Value {
    let words: Vec<&str> = command.split(' ').collect();
    let output = pliant(&[&["schema"], &words[..]].concat());
    assert_eq!(output.status.code(), Some(0), "{command}");
    serde_json::from_slice(&output.stdout).expect("a schema is one JSON object")
}

/// The keywords of JSON Schema that the schemas of reports use, as a validator.
struct Validator<'a> {
    root: &'a Value,
}

impl<'a> Validator<'a> {
    /// Why `value` at `path` does not fit `schema`; nothing where it fits.
    fn errors(&self, schema: &'a Value, value: &Value, path: &str) -> Vec<String> {
        let Some(keywords) = schema.as_object() else {
            return Vec::new(); // `true` accepts everything.
        };

        let mut errors = Vec::new();
        for (keyword, argument) in keywords {
            match keyword.as_str() {
                "$ref" => errors.extend(self.errors(self.resolve(argument), value, path)),
                "anyOf" | "oneOf" => {
                    let choices = argument.as_array().unwrap();
                    if !choices
                        .iter()
                        .any(|s| self.errors(s, value, path).is_empty())
                    {
                        errors.push(format!("{path}: no choice of {keyword} fits {value}"));
                    }
                }
                "allOf" => {
                    for part in argument.as_array().unwrap() {
                        errors.extend(self.errors(part, value, path));
                    }
                }
                "type" if !has_type(argument, value) => {
                    errors.push(format!("{path}: {value} is not {argument}"));
                }
                "const" if argument != value => {
                    errors.push(format!("{path}: {value} is not {argument}"));
                }
                "enum" if !argument.as_array().unwrap().contains(value) => {
                    errors.push(format!("{path}: {value} is not one of {argument}"));
                }
                "required" => {
                    for key in argument.as_array().unwrap() {
                        if value.get(key.as_str().unwrap()).is_none() {
                            errors.push(format!("{path}: there is no {key}"));
                        }
                    }
                }
                "properties" => {
                    for (key, part) in argument.as_object().unwrap() {
                        if let Some(value) = value.get(key) {
                            errors.extend(self.errors(part, value, &format!("{path}.{key}")));
                        }
                    }
                }
                "items" => {
                    for value in value.as_array().into_iter().flatten() {
                        errors.extend(self.errors(argument, value, &format!("{path}[]")));
                    }
                }
                _ => {}
            }
        }
        errors
    }

    fn resolve(&self, reference: &Value) -> &'a Value {
        let pointer = reference.as_str().unwrap().trim_start_matches('#');
        self.root.pointer(pointer).expect("references are local")
    }

    /// Paths of all keys that the schema describes.
    fn keys(&self, schema: &'a Value, path: &str, keys: &mut BTreeSet<String>) {
        let Some(keywords) = schema.as_object() else {
            return;
        };
        for (keyword, argument) in keywords {
            match keyword.as_str() {
                "$ref" => self.keys(self.resolve(argument), path, keys),
                "anyOf" | "oneOf" | "allOf" => {
                    for part in argument.as_array().unwrap() {
                        self.keys(part, path, keys);
                    }
                }
                "items" => self.keys(argument, &format!("{path}[]"), keys),
                "additionalProperties" => self.keys(argument, &format!("{path}.*"), keys),
                "properties" => {
                    for (key, part) in argument.as_object().unwrap() {
                        let path = format!("{path}.{key}");
                        self.keys(part, &path, keys);
                        keys.insert(path);
                    }
                }
                _ => {}
            }
        }
    }
}

fn has_type(types: &Value, value: &Value) -> bool {
    let is = |name: &Value| match name.as_str().unwrap() {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "number" => value.is_number(),
        "integer" => value.is_u64() || value.is_i64(),
        other => panic!("'{other}' is not a type of JSON Schema"),
    };
    match types {
        Value::Array(types) => types.iter().any(is),
        name => is(name),
    }
}

/// Runs a command and checks its report against its schema, and that every key is described.
fn assert_described(command: &str, args: &[&str]) {
    let words: Vec<&str> = command.split(' ').collect();
    let report = json(&[&words[..], args].concat());
    let schema = schema(command);
    let validator = Validator { root: &schema };
    let errors = validator.errors(&schema, &report, command);
    assert!(errors.is_empty(), "{errors:#?}");

    let mut keys = BTreeSet::new();
    validator.keys(&schema, "", &mut keys);
    for key in report.as_object().unwrap().keys() {
        assert!(keys.contains(&format!(".{key}")), "{command}: {key}");
    }
}

#[test]
fn reports_about_files_fit_their_schemas() {
    let folder = folder();
    let file = |name: &str| inside(&folder, name);
    assert_described("info", &["specimen:head"]);
    assert_described("convert", &["specimen:bar", &file("bar.glb")]);
    assert_described(
        "geodesic",
        &["specimen:bar", "--from", "0", "--out", &file("d.npy")],
    );
    assert_described(
        "render",
        &["specimen:bar", "--size", "80x60", "--out", &file("b.png")],
    );
    assert_described(
        "flexibility",
        &["specimen:hound#walk", "--out", &file("f.npy")],
    );
}

#[test]
fn reports_about_rigs_fit_their_schemas() {
    let folder = folder();
    let file = |name: &str| inside(&folder, name);
    let weights = file("w.json");
    let pose = ["specimen:head", "--pin", "4480:0.7,1.1,0", "--residual"];
    let outputs = ["--weights-out", &weights, "--out", &file("p.obj")];
    assert_described("pose", &[pose, outputs].concat());
    assert_described(
        "mirror",
        &[
            "specimen:head",
            "--weights-in",
            &weights,
            "--weights-out",
            &file("m.json"),
        ],
    );
    assert_described("mirror", &["specimen:head", "--out", &file("m.glb")]);
    assert_described(
        "play",
        &[
            "specimen:head",
            "specimen:head",
            "--out",
            &file("play.json"),
        ],
    );
    assert_described("rename", &["specimen:head", "--map", "vrm", "--dry-run"]);
    assert_described("split", &["specimen:head", "--out", &file("s.glb")]);
    assert_described(
        "repair",
        &["specimen:bar:coarse", "--split", "--out", &file("r.glb")],
    );
}

#[test]
fn reports_about_animations_fit_their_schemas() {
    let folder = folder();
    let file = |name: &str| inside(&folder, name);
    let shapes = ["specimen:bar:coarse", "specimen:bar:coarse"];
    let blend = ["--steps", "2", "--out", &file("b.npy")];
    assert_described("blend", &[&shapes[..], &blend].concat());
    assert_described(
        "touch",
        &[
            "specimen:head",
            "--center",
            "2134",
            "--radius",
            "2",
            "--gravity",
            "0,-1,0",
            "--frames",
            "2",
            "--out",
            &file("t.npy"),
        ],
    );
    assert_described(
        "bones",
        &[
            "specimen:hound#walk",
            "--count",
            "3",
            "--out",
            &file("rig.glb"),
        ],
    );
    assert_described("transfer", &["--init", &file("r.toml")]);
}

#[test]
fn every_report_has_a_version_and_the_list_names_every_schema() {
    let list = json(&["schema"]);
    assert_eq!(list["version"], "1");
    for command in list["commands"].as_array().unwrap() {
        let command = command.as_str().unwrap();
        let schema = schema(command);
        assert_eq!(schema["x-version"], "1", "{command}");
        let id = format!("urn:pliant:report:{}:1", command.replace(' ', "-"));
        assert_eq!(schema["$id"], id.as_str());
    }

    let unknown = pliant(&["schema", "completions"]);
    assert_eq!(unknown.status.code(), Some(2));
}

/// Scripts rely on the keys. A change of this file needs a new version of the schemas.
#[test]
fn the_keys_of_all_reports_are_stable() {
    let mut text = String::new();
    for command in json(&["schema"])["commands"].as_array().unwrap() {
        let command = command.as_str().unwrap();
        let schema = schema(command);
        let mut keys = BTreeSet::new();
        Validator { root: &schema }.keys(&schema, "", &mut keys);
        for key in keys {
            text += &format!("{command} {key}\n");
        }
    }
    let now: BTreeSet<&str> = text.lines().collect();
    let stable: BTreeSet<&str> = include_str!("report_keys.txt").lines().collect();
    let added: Vec<_> = now.difference(&stable).collect();
    let removed: Vec<_> = stable.difference(&now).collect();
    assert!(
        added.is_empty() && removed.is_empty(),
        "added {added:#?}, removed {removed:#?}"
    );
}
