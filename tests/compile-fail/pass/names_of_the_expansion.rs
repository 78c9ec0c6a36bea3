// Arguments, parameters and statics may have the names that the expansion uses.
use flockwork::{Actor, Answered, Ref, Serial, Several, Token, actor};
use flockwork_host_sim as _;

struct Names<B, const MAIL: usize>(B);

#[actor]
impl<B: Clone + Send + 'static, const MAIL: usize> Names<B, MAIL> {
    pub fn all<'t>(
        &self,
        reply: B,
        message: u8,
        grant: u8,
        me: u8,
        objects: u8,
        all: u8,
        token: Token<'t, B>,
    ) -> Answered<'t> {
        let _ = (message, grant, me, objects, all);
        token.done(reply)
    }

    pub fn r#type(&self, mut body: [u8; MAIL]) -> Result<Self, u8> {
        body[0] = 1;
        if body[0] == 0 { Err(0) } else { Ok(Self(self.0.clone())) }
    }

    pub fn method(&mut self, actor: fn(&u8) -> &u8, name: &'static str) {
        let _ = (actor, name);
    }

    pub fn run(&self) {}
    pub fn detach(&self) {}
    pub fn claims(&self) {}
}

const MAIL: u8 = 7;

#[actor]
static NAMES: Actor<Names<u8, 2>, Serial, 8, 2, 1> = Names(MAIL);

/// No message mentions its parameter.
struct Silent<T>(Option<T>);

#[actor(objects = Several<Vec<T>, 2>)]
impl<T> Silent<T>
where
    T: Send + Sync + 'static,
{
    pub fn is_silent(&self) -> bool {
        self.0.is_none()
    }

    pub fn never(&self) {}

    pub fn len(&self, objects: &Vec<T>) -> usize {
        objects.len()
    }

    pub fn swap(&self, one: &mut Vec<T>, other: &mut Vec<T>) {
        core::mem::swap(one, other);
    }

    pub fn clear(&mut self, all: &mut Several<Vec<T>, 2>) {
        all.iter_mut().for_each(Vec::clear);
    }
}

#[actor]
static SILENT: Actor<Silent<u8>, Serial, { 4 * 2 }> = (Silent(None), Several::new([const { Vec::new() }; 2]));

fn main() {
    let names: Ref<Names<u8, 2>> = &NAMES;
    let _ = (names.all(1, 2, 3, 4, 5, 6), names.r#type([0; 2]), names.method(|byte| byte, "me"));
    let _ = (SILENT.is_silent(), SILENT.clear());
}
