// `#[actor]` is for `impl` blocks and statics.
use flockwork::actor;

#[actor]
struct Counter(u32);

fn main() {}
