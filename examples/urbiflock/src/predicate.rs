//! Predicates: who belongs to a flock.
//!
//! ```text
//! predicate = "true" | "isFriend" | "isNearby" | "wasNearby(" ms ")" | "partnerNearby" | "hobby(" hobby ")"
//!           | field relation value | "not" predicate | predicate "and" predicate | predicate "or" predicate
//!           | "(" predicate ")"
//!
//! username  firstName  lastName        text      ==        "flockr-00042"
//! sex                                  choice    ==        female  male
//! uid  age  partner                    integer   == < >    42
//! birthDate                            date      == < >    1980-05-17
//! ```
//!
//! `not` binds tighter than `and`, `and` tighter than `or`. A missing field makes a comparison false, whatever the
//! relation. Text becomes at most 16 operations in postfix order that need at most 8 values on the stack: the stack is the
//! bits of one byte.
//!
//! ```
//! use flockwork_urbiflock::Predicate;
//!
//! const COUPLES: Predicate = Predicate::literal("isNearby and partnerNearby");
//! assert_eq!(COUPLES.to_string(), "isNearby and partnerNearby");
//!
//! let mistake = Predicate::parse("isNearby and hobby(golf)").unwrap_err();
//! assert_eq!(mistake.column, 20);
//! assert!(mistake.to_string().starts_with("column 20: expected a hobby"));
//! ```

mod parse;

use core::fmt;

pub use parse::{Expected, ParseError};

use crate::profile::{Date, Hobby, Profile, Sex, Text, Uid};

/// The most operations of a predicate.
pub const MAX_OPS: usize = 16;
/// The most values on the stack while a predicate is evaluated. Nine would need eight operators: seventeen operations.
pub const MAX_DEPTH: usize = 8;
const _: () = assert!(2 * MAX_DEPTH + 1 > MAX_OPS && MAX_DEPTH <= u8::BITS as usize);

/// Who belongs to a flock, as operations in postfix order.
#[derive(Clone, Copy)]
pub struct Predicate {
    ops: [Op; MAX_OPS],
    length: u8,
}

/// One operation of a [`Predicate`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// Holds for everybody who is known.
    True,
    /// Holds for the owner's friends.
    IsFriend,
    /// Holds for who is near.
    IsNearby,
    /// Holds for who is near, and for who was until this many milliseconds ago.
    WasNearby(u32),
    /// Holds for who has a partner who is near.
    PartnerNearby,
    /// Holds for who likes this.
    Hobby(Hobby),
    /// Compares a text. (One with a double quote cannot be written down.)
    Text(TextField, Text<12>),
    /// Compares a choice.
    Sex(Sex),
    /// Compares an integer.
    Integer(IntegerField, Relation, u16),
    /// Compares the birth date.
    BirthDate(Relation, Date),
    /// Takes one value from the stack, and puts its opposite there.
    Not,
    /// Takes two values from the stack, and puts there whether both hold.
    And,
    /// Takes two values from the stack, and puts there whether one of them holds.
    Or,
}

/// Fields that hold a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum TextField {
    Username,
    FirstName,
    LastName,
}

/// Fields that hold an integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum IntegerField {
    Uid,
    Age,
    Partner,
}

/// How integers and dates are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Relation {
    Equal,
    Less,
    Greater,
}

/// What is known about a person: what predicates are about.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    /// What the person told.
    pub profile: &'a Profile,
    /// Whether it is a friend.
    pub friend: bool,
    /// Whether it is near.
    pub nearby: bool,
    /// For how many milliseconds it has been away, if it was near before and is remembered.
    pub away: Option<u32>,
    /// Whether its partner is near.
    pub partner_nearby: bool,
}

impl Predicate {
    /// The predicate that `text` describes, or where it does not describe one.
    pub const fn parse(text: &str) -> Result<Self, ParseError> {
        parse::parse(text)
    }

    /// A predicate that is part of the program: a mistake in it does not compile.
    ///
    /// # Panics
    /// If it is not a predicate. In a `const`, that is a compile error.
    pub const fn literal(text: &str) -> Self {
        match parse::parse(text) {
            Ok(predicate) => predicate,
            Err(_) => {
                panic!("this is not a predicate; `Predicate::parse` says in which column, and what is expected there")
            }
        }
    }

    /// The predicate with these operations in postfix order.
    pub const fn from_ops(ops: &[Op]) -> Result<Self, Malformed> {
        if ops.len() > MAX_OPS {
            return Err(Malformed::TooLong);
        }
        let mut predicate = Self::EMPTY;
        let mut place = 0;
        while place < ops.len() {
            predicate.ops[place] = ops[place];
            place += 1;
        }
        predicate.length = ops.len() as u8;
        if predicate.is_balanced() { Ok(predicate) } else { Err(Malformed::Unbalanced) }
    }

    /// Its operations in postfix order.
    pub fn ops(&self) -> &[Op] {
        &self.ops[..usize::from(self.length)]
    }

    /// Whoever belongs to one of the two: the predicate of a flock union.
    pub fn or(&self, other: &Self) -> Result<Self, Malformed> {
        self.joined(other, Op::Or)
    }

    /// Whoever belongs to both: the predicate of a flock intersection.
    pub fn and(&self, other: &Self) -> Result<Self, Malformed> {
        self.joined(other, Op::And)
    }

    fn joined(&self, other: &Self, by: Op) -> Result<Self, Malformed> {
        let (own, further) = (self.ops(), other.ops());
        let mut ops = [Op::True; 2 * MAX_OPS + 1];
        ops[..own.len()].copy_from_slice(own);
        ops[own.len()..own.len() + further.len()].copy_from_slice(further);
        ops[own.len() + further.len()] = by;
        Self::from_ops(&ops[..own.len() + further.len() + 1])
    }

    /// Whether it holds for a person.
    #[inline]
    pub fn holds(&self, facts: &Facts<'_>) -> bool {
        let mut stack = 0_u8;
        for op in self.ops() {
            stack = match op {
                Op::Not => stack ^ 1,
                // The upper of the two values moves down, and meets the lower one.
                Op::And => stack >> 1 & (stack | !1),
                Op::Or => stack >> 1 | stack & 1,
                condition => stack << 1 | u8::from(condition.holds(facts)),
            };
        }
        stack & 1 == 1
    }

    /// Whether it can hold only for people who are near, as far as its form shows.
    ///
    /// Then only they have to be looked at when its flock is derived.
    pub fn is_about_nearby(&self) -> bool {
        let mut stack = 0_u8;
        for op in self.ops() {
            stack = match op {
                Op::Not => stack & !1,
                Op::And => stack >> 1 | stack & 1,
                Op::Or => stack >> 1 & (stack | !1),
                condition => stack << 1 | u8::from(*condition == Op::IsNearby),
            };
        }
        stack & 1 == 1
    }

    /// Whether it asks how long ago somebody was near.
    pub(crate) fn remembers(&self) -> bool {
        self.ops().iter().any(|op| matches!(op, Op::WasNearby(_)))
    }

    const EMPTY: Self = Self { ops: [Op::True; MAX_OPS], length: 0 };

    /// Whether every operation finds its operands, and one value is left.
    const fn is_balanced(&self) -> bool {
        let (mut values, mut place) = (0, 0);
        while place < self.length as usize {
            let taken = self.ops[place].operands();
            if values < taken {
                return false;
            }
            values = values - taken + 1;
            place += 1;
        }
        values == 1
    }

    /// Writes the part of the predicate that ends before `end`.
    fn write_part(&self, end: usize, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let op = self.ops[end - 1];
        match op {
            Op::Not => {
                f.write_str("not ")?;
                self.write_operand(end - 1, self.ops[end - 2].binding() < op.binding(), f)
            }
            Op::And | Op::Or => {
                let right = self.begin(end - 1);
                self.write_operand(right, self.ops[right - 1].binding() < op.binding(), f)?;
                f.write_str(if op == Op::And { " and " } else { " or " })?;
                // Operators associate to the left, so an equal one on the right needs its parentheses.
                self.write_operand(end - 1, self.ops[end - 2].binding() <= op.binding(), f)
            }
            condition => fmt::Display::fmt(&condition, f),
        }
    }

    fn write_operand(&self, end: usize, in_parentheses: bool, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !in_parentheses {
            return self.write_part(end, f);
        }
        f.write_str("(")?;
        self.write_part(end, f)?;
        f.write_str(")")
    }

    /// Where the part begins that ends before `end`.
    fn begin(&self, end: usize) -> usize {
        let (mut place, mut wanted) = (end, 1);
        while wanted > 0 {
            place -= 1;
            wanted = wanted - 1 + self.ops[place].operands();
        }
        place
    }
}

impl PartialEq for Predicate {
    fn eq(&self, other: &Self) -> bool {
        self.ops() == other.ops()
    }
}

impl Eq for Predicate {}

impl fmt::Display for Predicate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_part(usize::from(self.length), f)
    }
}

impl fmt::Debug for Predicate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Predicate({self})")
    }
}

impl Op {
    /// How many values it takes from the stack.
    pub(crate) const fn operands(self) -> usize {
        match self {
            Self::Not => 1,
            Self::And | Self::Or => 2,
            _ => 0,
        }
    }

    /// How tightly it binds.
    const fn binding(self) -> u8 {
        match self {
            Self::Or => 0,
            Self::And => 1,
            Self::Not => 2,
            _ => 3,
        }
    }

    /// Whether a condition holds for a person. An operator alone holds for nobody.
    #[inline]
    pub(crate) fn holds(&self, facts: &Facts<'_>) -> bool {
        let profile = facts.profile;
        match self {
            Self::True => true,
            Self::IsFriend => facts.friend,
            Self::IsNearby => facts.nearby,
            Self::WasNearby(ms) => facts.nearby || facts.away.is_some_and(|away| away <= *ms),
            Self::PartnerNearby => facts.partner_nearby,
            Self::Hobby(hobby) => profile.has_hobby(*hobby),
            Self::Text(field, text) => match field {
                TextField::Username => profile.username.bytes() == text.as_str().as_bytes(),
                TextField::FirstName => profile.first_name() == text.as_str(),
                TextField::LastName => profile.last_name() == text.as_str(),
            },
            Self::Sex(sex) => profile.sex() == *sex,
            Self::Integer(field, relation, value) => {
                let told = match field {
                    IntegerField::Uid => Some(profile.uid),
                    IntegerField::Age => profile.age().map(Uid::from),
                    IntegerField::Partner => profile.partner(),
                };
                told.is_some_and(|told| relation.holds(&told, value))
            }
            Self::BirthDate(relation, date) => relation.holds(&profile.birth_date(), date),
            Self::Not | Self::And | Self::Or => false,
        }
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::True => f.write_str("true"),
            Self::IsFriend => f.write_str("isFriend"),
            Self::IsNearby => f.write_str("isNearby"),
            Self::WasNearby(ms) => write!(f, "wasNearby({ms})"),
            Self::PartnerNearby => f.write_str("partnerNearby"),
            Self::Hobby(hobby) => write!(f, "hobby({})", hobby.name()),
            Self::Text(field, text) => write!(f, "{} == \"{text}\"", field.name()),
            Self::Sex(sex) => write!(f, "sex == {}", sex.name()),
            Self::Integer(field, relation, value) => write!(f, "{} {} {value}", field.name(), relation.symbol()),
            Self::BirthDate(relation, date) => write!(f, "birthDate {} {date}", relation.symbol()),
            Self::Not => f.write_str("not"),
            Self::And => f.write_str("and"),
            Self::Or => f.write_str("or"),
        }
    }
}

impl TextField {
    const fn name(self) -> &'static str {
        match self {
            Self::Username => "username",
            Self::FirstName => "firstName",
            Self::LastName => "lastName",
        }
    }
}

impl IntegerField {
    const fn name(self) -> &'static str {
        match self {
            Self::Uid => "uid",
            Self::Age => "age",
            Self::Partner => "partner",
        }
    }
}

impl Relation {
    const fn symbol(self) -> &'static str {
        match self {
            Self::Equal => "==",
            Self::Less => "<",
            Self::Greater => ">",
        }
    }

    fn holds<T: Ord>(self, one: &T, other: &T) -> bool {
        match self {
            Self::Equal => one == other,
            Self::Less => one < other,
            Self::Greater => one > other,
        }
    }
}

/// Why operations are no predicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Malformed {
    /// There are more than [`MAX_OPS`].
    TooLong,
    /// They leave no value or several, or find too few.
    Unbalanced,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong => write!(f, "a predicate has at most {MAX_OPS} conditions and operators; make it shorter"),
            Self::Unbalanced => {
                f.write_str("operators and conditions do not go together; each operator follows its operands")
            }
        }
    }
}

impl core::error::Error for Malformed {}
