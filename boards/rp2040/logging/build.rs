//! These images are linked as those of the board are, whose crate says where memory is; defmt adds its table of texts.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    for argument in ["--nmagic", "-Tlink.x", "-Tlink-rp.x", "-Tdefmt.x"] {
        println!("cargo::rustc-link-arg-bins={argument}");
    }
}
