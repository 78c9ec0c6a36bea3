// Each kind of method becomes a message that calls it: values, errors, tokens, objects, and generic actors.
use flockwork::{
    Access, Actor, Answered, Category, Failure, Id, Methods, Ref, Refused, Serial, Several, Token, Unrunnable, actor,
};

struct Relay {
    seen: u32,
    next: Option<Ref<Relay>>,
}

static HOPS: Category = Category::new("hops");

#[actor]
impl Relay {
    pub fn seen(&self) -> u32 {
        self.seen
    }

    pub fn see(&mut self, more: u32) -> Result<u32, &'static str> {
        self.seen = self.seen.checked_add(more).ok_or("too much")?;
        Ok(self.seen)
    }

    #[category(HOPS)]
    pub fn hop<'t>(&mut self, n: u32, token: Token<'t, u32>) -> Answered<'t> {
        self.seen += 1;
        match self.next {
            Some(next) if n > 0 => next.hop(n - 1).forward(token).unwrap_or_else(|(token, why)| token.fail(why)),
            _ => token.done(self.seen),
        }
    }

    pub fn not_a_message(left: u32, right: &u32) -> u32 {
        left + right
    }
}

// Statics may name each other in a cycle.
#[actor]
static THERE: Actor<Relay, Serial, 8> = Relay { seen: 0, next: Some(&BACK) };
#[actor]
static BACK: Actor<Relay, Serial, 8> = Relay { seen: 10, next: Some(&THERE) };

struct Account(u64);

struct Bank {
    fee: u64,
}

#[actor(objects = Several<Account, 4>)]
impl Bank {
    pub fn transfer(&self, from: &mut Account, amount: u64, to: &mut Account) -> Result<(), u64> {
        from.0 = from.0.checked_sub(amount + self.fee).ok_or(from.0)?;
        to.0 += amount;
        Ok(())
    }

    pub fn balance<'t>(&self, account: &Account, token: Token<'t, u64>) -> Answered<'t> {
        token.done(account.0)
    }

    pub fn same(&self, one: &Account, other: &Account) -> bool {
        core::ptr::eq(one, other)
    }

    pub fn total(&mut self, all: &mut Several<Account, 4>) -> u64 {
        all.iter_mut().map(|account| account.0).sum()
    }
}

#[actor]
static BANK: Actor<Bank, Serial, 8> = (Bank { fee: 1 }, Several::new([const { Account(100) }; 4]));

struct Buffer<T, const C: usize> {
    items: [Option<T>; C],
}

#[actor]
impl<T: Send + 'static, const C: usize> Buffer<T, C> {
    pub fn put(&mut self, item: T) -> Result<usize, T> {
        match self.items.iter().position(Option::is_none) {
            Some(place) => {
                self.items[place] = Some(item);
                Ok(place)
            }
            None => Err(item),
        }
    }
}

#[actor]
static WORDS: Actor<Buffer<String, 1>, Serial, 8> = Buffer { items: [None] };

fn main() {
    flockwork_host_sim::run(1, || {
        assert_eq!(THERE.see(5).get(), Ok(5));
        assert_eq!(THERE.see(u32::MAX).get(), Err(Failure::Method("too much")));
        assert_eq!(THERE.seen().get(), Ok(5));
        assert_eq!(THERE.hop(3).get(), Ok(12));
        assert_eq!(Relay::not_a_message(1, &2), 3);

        assert_eq!(BANK.transfer(Id::new(0), 30, Id::new(1)).get(), Ok(()));
        assert_eq!(BANK.transfer(Id::new(0), 70, Id::new(1)).get(), Err(Failure::Method(69)));
        assert_eq!(BANK.balance(Id::new(1)).get(), Ok(130));
        assert_eq!(BANK.same(Id::new(2), Id::new(2)).get(), Ok(true));
        assert_eq!(BANK.total().get(), Ok(399));
        let twice = Refused::Unrunnable(Unrunnable::SameObjectTwice { index: 3 });
        assert_eq!(BANK.transfer(Id::new(3), 1, Id::new(3)).get(), Err(Failure::Refused(twice)));

        assert_eq!(WORDS.put("one".into()).get(), Ok(0));
        assert_eq!(WORDS.put("two".into()).get(), Err(Failure::Method("two".into())));
    });

    let described = Relay::METHODS.iter().map(|method| (method.name(), method.access())).collect::<Vec<_>>();
    assert_eq!(described, [("seen", Access::Reader), ("see", Access::Writer), ("hop", Access::Writer)]);
    let described = Bank::METHODS.iter().map(|method| (method.name(), method.access())).collect::<Vec<_>>();
    let objects = |name| (name, Access::Objects);
    assert_eq!(described, [objects("transfer"), objects("balance"), objects("same"), ("total", Access::Writer)]);
}
