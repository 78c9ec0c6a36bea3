// A letter outlives the call that sends it, so it cannot hold a reference.
use flockwork::actor;

struct Log(usize);

#[actor]
impl Log {
    pub fn write(&mut self, line: &str) {
        self.0 += line.len();
    }

    pub fn write_all(&mut self, lines: [Option<&'_ str>; 2]) {
        self.0 += lines.iter().flatten().map(|line| line.len()).sum::<usize>();
    }
}

fn main() {}
