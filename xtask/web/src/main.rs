//! The page's module with its bindings: `pliant-web-bindings MODULE.wasm FOLDER`.
//!
//! **Problem.** The thread of a page must not wait: `memory.atomic.wait32` is an error there. Locks of
//! the standard library wait when another thread holds them.
//!
//! **Method.** Each wait is replaced by a call: threads that may wait wait, and the page's thread
//! answers at once that the time is over, so that the lock asks again. Locks are held for moments, and
//! no other thread is needed to release them but the one that holds them. Then `wasm-bindgen` writes
//! the module and its JavaScript.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;

use walrus::ir::{AtomicWait, Instr, LoadKind, MemArg, VisitorMut, dfs_pre_order_mut};
use walrus::{ExportItem, FunctionBuilder, FunctionId, Module, ModuleConfig, ValType};
use wasm_bindgen_cli_support::Bindgen;

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// The exported function that tells whether this thread may wait.
const MAY_WAIT: &str = "mayWait";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [module, folder] = &arguments[..] else {
        eprintln!("usage: pliant-web-bindings MODULE.wasm FOLDER");
        return ExitCode::from(2);
    };
    match write_bindings(Path::new(module), Path::new(folder)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:?}");
            ExitCode::FAILURE
        }
    }
}

fn write_bindings(path: &Path, folder: &Path) -> Outcome<()> {
    let bytes = std::fs::read(path)?;
    let mut config = ModuleConfig::new();
    // Bindings find the stack pointer by its name.
    config.generate_name_section(true);
    let mut module = config.parse(&bytes).map_err(|e| format!("{e:?}"))?;
    let count = replace_waits(&mut module)?;
    println!("{count} waits replaced");

    let mut bindgen = Bindgen::new();
    bindgen.input_bytes("pliant_web", module.emit_wasm());
    bindgen.web(true).map_err(|e| format!("{e:?}"))?;
    bindgen
        .typescript(false)
        .remove_name_section(true)
        .remove_producers_section(true);
    bindgen.generate(folder).map_err(|e| format!("{e:?}"))?;
    Ok(())
}

/// Replaces every wait for 32 bits; returns how many there were.
fn replace_waits(module: &mut Module) -> Outcome<usize> {
    let Some(may_wait) = exported_function(module, MAY_WAIT) else {
        return Err(format!("the module exports no function '{MAY_WAIT}'").into());
    };

    let mut waits = FindWaits::default();
    for (_, function) in module.funcs.iter_local_mut() {
        let start = function.entry_block();
        dfs_pre_order_mut(&mut waits, function, start);
    }
    let mut calls = BTreeMap::new();
    for (offset, wait) in &waits.found {
        calls.insert(*offset, wait_or_ask_again(module, may_wait, wait));
    }

    let own: Vec<FunctionId> = calls.values().copied().collect();
    let mut replaced = ReplaceWaits { calls, count: 0 };
    for (id, function) in module.funcs.iter_local_mut() {
        if !own.contains(&id) {
            let start = function.entry_block();
            dfs_pre_order_mut(&mut replaced, function, start);
        }
    }
    Ok(replaced.count)
}

fn exported_function(module: &Module, name: &str) -> Option<FunctionId> {
    // The name of a binding ends with a hash of its crate.
    let is_it = |found: &str| found.split('_').next() == Some(name);
    let mut exports = module.exports.iter();
    let export = exports.find(|export| is_it(&export.name))?;
    match export.item {
        ExportItem::Function(function) => Some(function),
        _ => None,
    }
}

/// `(address, expected, timeout) → answer`: a wait, or on the page's thread "another value" (1) or "the
/// time is over" (2).
fn wait_or_ask_again(module: &mut Module, may_wait: FunctionId, wait: &AtomicWait) -> FunctionId {
    let [address, expected] = [(); 2].map(|()| module.locals.add(ValType::I32));
    let timeout = module.locals.add(ValType::I64);
    let parameters = [ValType::I32, ValType::I32, ValType::I64];
    let mut builder = FunctionBuilder::new(&mut module.types, &parameters, &[ValType::I32]);

    let (memory, arg) = (wait.memory, wait.arg);
    let wait = wait.clone();
    builder.func_body().call(may_wait).if_else(
        ValType::I32,
        |then| {
            then.local_get(address)
                .local_get(expected)
                .local_get(timeout)
                .instr(wait);
        },
        |otherwise| {
            otherwise
                .i32_const(2)
                .i32_const(1)
                .local_get(address)
                .load(memory, LoadKind::I32 { atomic: true }, arg)
                .local_get(expected)
                .binop(walrus::ir::BinaryOp::I32Eq)
                .select(Some(ValType::I32));
        },
    );
    builder.finish(vec![address, expected, timeout], &mut module.funcs)
}

/// One wait for each offset from its address.
#[derive(Default)]
struct FindWaits {
    found: BTreeMap<u64, AtomicWait>,
}

impl VisitorMut for FindWaits {
    fn visit_atomic_wait_mut(&mut self, wait: &mut AtomicWait) {
        if !wait.sixty_four {
            self.found.insert(offset(&wait.arg), wait.clone());
        }
    }
}

struct ReplaceWaits {
    calls: BTreeMap<u64, FunctionId>,
    count: usize,
}

impl VisitorMut for ReplaceWaits {
    fn visit_instr_mut(&mut self, instruction: &mut Instr, _: &mut walrus::InstrLocId) {
        if let Instr::AtomicWait(wait) = instruction
            && !wait.sixty_four
        {
            let func = self.calls[&offset(&wait.arg)];
            *instruction = Instr::Call(walrus::ir::Call { func });
            self.count += 1;
        }
    }
}

fn offset(arg: &MemArg) -> u64 {
    arg.offset.into()
}
