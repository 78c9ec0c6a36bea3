// A type without `#[actor]` methods cannot be declared as an actor.
use flockwork::{Actor, Serial, actor};

struct Plain;

#[actor]
static PLAIN: Actor<Plain, Serial, 8> = Plain;

fn main() {}
