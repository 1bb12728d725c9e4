//! Arguments of the linker for one memory that several workers share.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let target = std::env::var("TARGET").unwrap_or_default();
    let features = std::env::var("CARGO_CFG_TARGET_FEATURE").unwrap_or_default();
    if !target.starts_with("wasm32") || !features.split(',').any(|name| name == "atomics") {
        return;
    }

    let arguments = [
        "--shared-memory",
        "--import-memory",
        "--max-memory=2147483648",
        "--export=__heap_base",
        "--export=__wasm_init_tls",
        "--export=__tls_size",
        "--export=__tls_align",
        "--export=__tls_base",
    ];
    for argument in arguments {
        println!("cargo::rustc-cdylib-link-arg={argument}");
    }
}
