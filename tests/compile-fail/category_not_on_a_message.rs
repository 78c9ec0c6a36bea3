// A category labels letters, so only a message has one.
use flockwork::{Category, actor};

static EDIT: Category = Category::new("edit");

struct Counter(u32);

#[actor]
impl Counter {
    pub fn increment(&mut self) {
        self.add(1);
    }

    #[category(EDIT)]
    fn add(&mut self, amount: u32) {
        self.0 += amount;
    }
}

fn main() {}
