//! From text to operations: one pass from left to right, in the compiler or on a device.
//!
//! Conditions go to the output at once. Operators wait on a stack of their own until one that binds no tighter comes, so
//! nothing here calls itself, however deep the parentheses are.

use core::fmt;

use super::{IntegerField, MAX_DEPTH, MAX_OPS, Op, Predicate, Relation, TextField};
use crate::profile::{Date, Hobby, Sex, Text};

/// Operators and opening parentheses that wait at the same time.
const MAX_WAITING: usize = 32;

/// Where a text is no predicate, and what should be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// Counted in characters, from 1. One past the last if something is missing at the end.
    pub column: usize,
    /// What should be there.
    pub expected: Expected,
}

/// What a predicate should have in some place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "their texts are below")]
pub enum Expected {
    Condition,
    OperatorOrEnd,
    OperatorOrClosing,
    Opening,
    Closing,
    Milliseconds,
    Hobby,
    Equals,
    Relation,
    Text,
    Sex,
    Integer,
    Date,
    FewerOps,
    LessDepth,
    FewerParentheses,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "column {}: expected {}", self.column, self.expected)
    }
}

impl core::error::Error for ParseError {}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Condition => f.write_str(
                "a condition (true, isFriend, isNearby, wasNearby(ms), partnerNearby, hobby(name), or a field: username, \
                 firstName, lastName, sex, uid, age, partner, birthDate), `not` or `(`",
            ),
            Self::OperatorOrEnd => f.write_str("`and`, `or` or the end"),
            Self::OperatorOrClosing => f.write_str("`and`, `or` or `)`"),
            Self::Opening => f.write_str("`(`"),
            Self::Closing => f.write_str("`)`"),
            Self::Milliseconds => write!(f, "milliseconds, a number up to {}", u32::MAX),
            Self::Hobby => {
                f.write_str("a hobby: ")?;
                for (place, hobby) in Hobby::ALL.into_iter().enumerate() {
                    f.write_str(if place == 0 { "" } else { ", " })?;
                    f.write_str(hobby.name())?;
                }
                Ok(())
            }
            Self::Equals => f.write_str("`==`, since texts and choices have no order"),
            Self::Relation => f.write_str("`==`, `<` or `>`"),
            Self::Text => f.write_str("a text of at most 12 bytes in double quotes"),
            Self::Sex => f.write_str("`female` or `male`"),
            Self::Integer => write!(f, "a number up to {}", u16::MAX),
            Self::Date => f.write_str("a date, written as 1980-05-17"),
            Self::FewerOps => write!(f, "the end: a predicate has at most {MAX_OPS} conditions and operators"),
            Self::LessDepth => write!(f, "at most {MAX_DEPTH} values at a time: put the nested part first"),
            Self::FewerParentheses => write!(f, "at most {MAX_WAITING} operators and parentheses that wait for their end"),
        }
    }
}

/// What waits on the operators' stack.
#[derive(Clone, Copy)]
enum Waiting {
    Opening,
    /// With its place in the text.
    Operator(Op, usize),
}

struct Parser<'a> {
    text: &'a [u8],
    /// The next byte to read.
    place: usize,
    output: Predicate,
    /// How many values the output leaves on the stack of whoever evaluates it.
    values: usize,
    waiting: [Waiting; MAX_WAITING],
    waits: usize,
}

/// In `const fn`, `?` is not to be had.
macro_rules! attempt {
    ($result:expr) => {
        match $result {
            Ok(value) => value,
            Err(mistake) => return Err(mistake),
        }
    };
}

pub(super) const fn parse(text: &str) -> Result<Predicate, ParseError> {
    let mut parser = Parser {
        text: text.as_bytes(),
        place: 0,
        output: Predicate::EMPTY,
        values: 0,
        waiting: [Waiting::Opening; MAX_WAITING],
        waits: 0,
    };
    loop {
        // Where a condition may stand.
        loop {
            parser.skip_spaces();
            let word = parser.word();
            if parser.takes(b"(") {
                attempt!(parser.wait(Waiting::Opening, word.begin));
            } else if same(word.of(parser.text), b"not") {
                parser.place = word.end;
                attempt!(parser.wait(Waiting::Operator(Op::Not, word.begin), word.begin));
            } else {
                break;
            }
        }
        attempt!(parser.condition());
        // Where an operator may stand.
        loop {
            parser.skip_spaces();
            let word = parser.word();
            let operator = if same(word.of(parser.text), b"and") {
                Op::And
            } else if same(word.of(parser.text), b"or") {
                Op::Or
            } else if parser.place == parser.text.len() {
                attempt!(parser.close_all());
                return Ok(parser.output);
            } else if attempt!(parser.closes()) {
                continue;
            } else {
                return Err(parser.mistake(parser.place, parser.after_condition()));
            };
            attempt!(parser.flush(operator.binding()));
            parser.place = word.end;
            attempt!(parser.wait(Waiting::Operator(operator, word.begin), word.begin));
            break;
        }
    }
}

impl Parser<'_> {
    const fn condition(&mut self) -> Result<(), ParseError> {
        let word = self.word();
        let name = word.of(self.text);
        self.place = word.end;
        let op = if same(name, b"true") {
            Op::True
        } else if same(name, b"isFriend") {
            Op::IsFriend
        } else if same(name, b"isNearby") {
            Op::IsNearby
        } else if same(name, b"partnerNearby") {
            Op::PartnerNearby
        } else if same(name, b"wasNearby") {
            attempt!(self.token(b"(", Expected::Opening));
            let ms = attempt!(self.number(u32::MAX, Expected::Milliseconds));
            attempt!(self.token(b")", Expected::Closing));
            Op::WasNearby(ms)
        } else if same(name, b"hobby") {
            attempt!(self.token(b"(", Expected::Opening));
            let hobby = attempt!(self.hobby());
            attempt!(self.token(b")", Expected::Closing));
            Op::Hobby(hobby)
        } else if same(name, b"username") {
            attempt!(self.text(TextField::Username))
        } else if same(name, b"firstName") {
            attempt!(self.text(TextField::FirstName))
        } else if same(name, b"lastName") {
            attempt!(self.text(TextField::LastName))
        } else if same(name, b"sex") {
            attempt!(self.sex())
        } else if same(name, b"uid") {
            attempt!(self.integer(IntegerField::Uid))
        } else if same(name, b"age") {
            attempt!(self.integer(IntegerField::Age))
        } else if same(name, b"partner") {
            attempt!(self.integer(IntegerField::Partner))
        } else if same(name, b"birthDate") {
            let relation = attempt!(self.relation());
            Op::BirthDate(relation, attempt!(self.date()))
        } else {
            return Err(self.mistake(word.begin, Expected::Condition));
        };
        self.emit(op, word.begin)
    }

    const fn hobby(&mut self) -> Result<Hobby, ParseError> {
        self.skip_spaces();
        let word = self.word();
        let mut place = 0;
        while place < Hobby::ALL.len() {
            if same(word.of(self.text), Hobby::ALL[place].name().as_bytes()) {
                self.place = word.end;
                return Ok(Hobby::ALL[place]);
            }
            place += 1;
        }
        Err(self.mistake(word.begin, Expected::Hobby))
    }

    const fn text(&mut self, field: TextField) -> Result<Op, ParseError> {
        attempt!(self.token(b"==", Expected::Equals));
        self.skip_spaces();
        let begin = self.place;
        if !self.takes(b"\"") {
            return Err(self.mistake(begin, Expected::Text));
        }
        let mut end = self.place;
        while end < self.text.len() && self.text[end] != b'"' {
            end += 1;
        }
        if end == self.text.len() {
            return Err(self.mistake(begin, Expected::Text));
        }
        // Quotes are ASCII, so what stands between two of them is text again.
        let Ok(between) = core::str::from_utf8(part(self.text, self.place, end)) else {
            return Err(self.mistake(begin, Expected::Text));
        };
        let Some(text) = Text::new(between) else {
            return Err(self.mistake(begin, Expected::Text));
        };
        self.place = end + 1;
        Ok(Op::Text(field, text))
    }

    const fn sex(&mut self) -> Result<Op, ParseError> {
        attempt!(self.token(b"==", Expected::Equals));
        self.skip_spaces();
        let word = self.word();
        let sex = if same(word.of(self.text), Sex::Female.name().as_bytes()) {
            Sex::Female
        } else if same(word.of(self.text), Sex::Male.name().as_bytes()) {
            Sex::Male
        } else {
            return Err(self.mistake(word.begin, Expected::Sex));
        };
        self.place = word.end;
        Ok(Op::Sex(sex))
    }

    const fn integer(&mut self, field: IntegerField) -> Result<Op, ParseError> {
        let relation = attempt!(self.relation());
        let value = attempt!(self.number(u16::MAX as u32, Expected::Integer));
        Ok(Op::Integer(field, relation, value as u16))
    }

    const fn date(&mut self) -> Result<Date, ParseError> {
        self.skip_spaces();
        let begin = self.place;
        let text = self.text;
        let Some(end) = begin.checked_add(10) else { return Err(self.mistake(begin, Expected::Date)) };
        if end > text.len() || text[begin + 4] != b'-' || text[begin + 7] != b'-' {
            return Err(self.mistake(begin, Expected::Date));
        }
        let year = digits(part(text, begin, begin + 4));
        let month = digits(part(text, begin + 5, begin + 7));
        let day = digits(part(text, begin + 8, end));
        let (Some(year), Some(month), Some(day)) = (year, month, day) else {
            return Err(self.mistake(begin, Expected::Date));
        };
        let date = Date::new(year as u16, month as u8, day as u8);
        if !date.exists() || (end < text.len() && is_in_word(text[end])) {
            return Err(self.mistake(begin, Expected::Date));
        }
        self.place = end;
        Ok(date)
    }

    const fn relation(&mut self) -> Result<Relation, ParseError> {
        self.skip_spaces();
        if self.takes(b"==") {
            Ok(Relation::Equal)
        } else if self.takes(b"<") {
            Ok(Relation::Less)
        } else if self.takes(b">") {
            Ok(Relation::Greater)
        } else {
            Err(self.mistake(self.place, Expected::Relation))
        }
    }

    const fn number(&mut self, most: u32, expected: Expected) -> Result<u32, ParseError> {
        self.skip_spaces();
        let word = self.word();
        match digits(word.of(self.text)) {
            Some(number) if number <= most => {
                self.place = word.end;
                Ok(number)
            }
            _ => Err(self.mistake(word.begin, expected)),
        }
    }

    const fn token(&mut self, token: &[u8], expected: Expected) -> Result<(), ParseError> {
        self.skip_spaces();
        if self.takes(token) { Ok(()) } else { Err(self.mistake(self.place, expected)) }
    }

    // ---- the two stacks ----

    const fn emit(&mut self, op: Op, at: usize) -> Result<(), ParseError> {
        let length = self.output.length as usize;
        if length == MAX_OPS {
            return Err(self.mistake(at, Expected::FewerOps));
        }
        self.values = self.values + 1 - op.operands();
        if self.values > MAX_DEPTH {
            return Err(self.mistake(at, Expected::LessDepth));
        }
        self.output.ops[length] = op;
        self.output.length += 1;
        Ok(())
    }

    const fn wait(&mut self, what: Waiting, at: usize) -> Result<(), ParseError> {
        if self.waits == MAX_WAITING {
            return Err(self.mistake(at, Expected::FewerParentheses));
        }
        self.waiting[self.waits] = what;
        self.waits += 1;
        Ok(())
    }

    /// Emits the operators that bind at least so tightly, back to the last opening parenthesis.
    const fn flush(&mut self, binding: u8) -> Result<(), ParseError> {
        while self.waits > 0 {
            let Waiting::Operator(op, at) = self.waiting[self.waits - 1] else { break };
            if op.binding() < binding {
                break;
            }
            attempt!(self.emit(op, at));
            self.waits -= 1;
        }
        Ok(())
    }

    /// Takes a closing parenthesis that has an opening one.
    const fn closes(&mut self) -> Result<bool, ParseError> {
        let at = self.place;
        if !self.takes(b")") {
            return Ok(false);
        }
        attempt!(self.flush(0));
        if self.waits == 0 {
            return Err(self.mistake(at, Expected::OperatorOrEnd));
        }
        self.waits -= 1;
        Ok(true)
    }

    /// At the end of the text.
    const fn close_all(&mut self) -> Result<(), ParseError> {
        attempt!(self.flush(0));
        if self.waits > 0 {
            return Err(self.mistake(self.place, Expected::OperatorOrClosing));
        }
        Ok(())
    }

    /// What may follow a condition here.
    const fn after_condition(&self) -> Expected {
        let mut place = 0;
        while place < self.waits {
            if matches!(self.waiting[place], Waiting::Opening) {
                return Expected::OperatorOrClosing;
            }
            place += 1;
        }
        Expected::OperatorOrEnd
    }

    // ---- reading ----

    const fn skip_spaces(&mut self) {
        while self.place < self.text.len() && self.text[self.place].is_ascii_whitespace() {
            self.place += 1;
        }
    }

    const fn takes(&mut self, token: &[u8]) -> bool {
        let end = self.place + token.len();
        let there = end <= self.text.len() && same(part(self.text, self.place, end), token);
        if there {
            self.place = end;
        }
        there
    }

    /// The letters and digits from here on; perhaps none.
    const fn word(&self) -> Word {
        let mut end = self.place;
        while end < self.text.len() && is_in_word(self.text[end]) {
            end += 1;
        }
        Word { begin: self.place, end }
    }

    const fn mistake(&self, at: usize, expected: Expected) -> ParseError {
        // People count characters: of those with several bytes, only the first counts.
        let (mut column, mut place) = (1, 0);
        while place < at {
            if self.text[place] & 0xc0 != 0x80 {
                column += 1;
            }
            place += 1;
        }
        ParseError { column, expected }
    }
}

#[derive(Clone, Copy)]
struct Word {
    begin: usize,
    end: usize,
}

impl Word {
    const fn of(self, text: &[u8]) -> &[u8] {
        part(text, self.begin, self.end)
    }
}

const fn is_in_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

const fn part(text: &[u8], begin: usize, end: usize) -> &[u8] {
    text.split_at(end).0.split_at(begin).1
}

const fn same(one: &[u8], other: &[u8]) -> bool {
    if one.len() != other.len() {
        return false;
    }
    let mut place = 0;
    while place < one.len() {
        if one[place] != other[place] {
            return false;
        }
        place += 1;
    }
    true
}

/// The number that these digits write, if they are digits and it is no larger than a `u32`.
const fn digits(text: &[u8]) -> Option<u32> {
    if text.is_empty() {
        return None;
    }
    let (mut number, mut place) = (0_u32, 0);
    while place < text.len() {
        if !text[place].is_ascii_digit() {
            return None;
        }
        number = match number.checked_mul(10) {
            Some(tenfold) => match tenfold.checked_add((text[place] - b'0') as u32) {
                Some(number) => number,
                None => return None,
            },
            None => return None,
        };
        place += 1;
    }
    Some(number)
}
