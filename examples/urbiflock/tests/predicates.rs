//! The language of predicates: what it accepts, what it says about mistakes, and that it prints what it read.

use flockwork_urbiflock::predicate::{Expected, Facts, Malformed, Op};
use flockwork_urbiflock::{Hobby, Predicate, Profile, WORLD};
use proptest::prelude::*;

fn parse(text: &str) -> Predicate {
    Predicate::parse(text).unwrap_or_else(|mistake| panic!("`{text}`: {mistake}"))
}

fn about(profile: &Profile) -> Facts<'_> {
    Facts { profile, friend: false, nearby: true, away: None, partner_nearby: false }
}

#[test]
fn couples_are_three_operations() {
    assert_eq!(parse("isNearby and partnerNearby").ops(), [Op::IsNearby, Op::PartnerNearby, Op::And]);
}

#[test]
fn not_binds_tighter_than_and_and_and_than_or() {
    use Op::{And, IsFriend, IsNearby, Not, Or, True};
    assert_eq!(parse("not true and isFriend or isNearby").ops(), [True, Not, IsFriend, And, IsNearby, Or]);
    assert_eq!(parse("true or isFriend and not isNearby").ops(), [True, IsFriend, IsNearby, Not, And, Or]);
    assert_eq!(parse("not (true or isFriend)").ops(), [True, IsFriend, Or, Not]);
    assert_eq!(parse("true and (isFriend and isNearby)").ops(), [True, IsFriend, IsNearby, And, And]);
    assert_eq!(parse("true and isFriend and isNearby").ops(), [True, IsFriend, And, IsNearby, And]);
    assert_eq!(parse("not not true").ops(), [True, Not, Not]);
}

#[test]
fn spaces_do_not_matter() {
    assert_eq!(parse("age<30 and hobby( chess )and(true)"), parse("  age  <  30\tand hobby(chess) and true "));
}

#[test]
fn printed_with_the_parentheses_it_needs() {
    for text in [
        "true",
        "isNearby and partnerNearby",
        "isNearby and hobby(badminton) and not isFriend",
        "(isFriend or isNearby) and not (age < 30 or age > 40)",
        "true and (isFriend and isNearby)",
        "true or (isFriend or isNearby and true)",
        "not not true",
        "wasNearby(60000) and sex == female",
        "username == \"flockr-00042\" or firstName == \"Ada\" or lastName == \"Ito\"",
        "birthDate > 1980-02-29 and birthDate < 1990-12-31 and uid == 7 and partner == 12",
    ] {
        assert_eq!(parse(text).to_string(), text);
    }
}

#[test]
fn a_mistake_has_a_column_and_says_what_belongs_there() {
    for (text, column, expected) in [
        ("", 1, Expected::Condition),
        ("   ", 4, Expected::Condition),
        ("isnearby", 1, Expected::Condition),
        ("isNearby and", 13, Expected::Condition),
        ("isNearby and and", 14, Expected::Condition),
        ("not", 4, Expected::Condition),
        ("()", 2, Expected::Condition),
        ("isNearby isFriend", 10, Expected::OperatorOrEnd),
        ("isNearby)", 9, Expected::OperatorOrEnd),
        ("(isNearby isFriend)", 11, Expected::OperatorOrClosing),
        ("(isNearby", 10, Expected::OperatorOrClosing),
        ("isNearby & isFriend", 10, Expected::OperatorOrEnd),
        ("hobby badminton", 7, Expected::Opening),
        ("hobby(golf)", 7, Expected::Hobby),
        ("hobby(chess", 12, Expected::Closing),
        ("wasNearby(soon)", 11, Expected::Milliseconds),
        ("wasNearby(4294967296)", 11, Expected::Milliseconds),
        ("wasNearby(-1)", 11, Expected::Milliseconds),
        ("age = 30", 5, Expected::Relation),
        ("age <= 30", 6, Expected::Integer),
        ("age < thirty", 7, Expected::Integer),
        ("age < 65536", 7, Expected::Integer),
        ("sex < female", 5, Expected::Equals),
        ("sex == other", 8, Expected::Sex),
        ("username > \"a\"", 10, Expected::Equals),
        ("username == flockr", 13, Expected::Text),
        ("username == \"flockr", 13, Expected::Text),
        ("username == \"thirteen long\"", 13, Expected::Text),
        ("birthDate > 1980-02-30", 13, Expected::Date),
        ("birthDate > 1980-2-3", 13, Expected::Date),
        ("birthDate > yesterday", 13, Expected::Date),
        ("firstName == \"Zoë\" und true", 20, Expected::OperatorOrEnd),
        ("é", 1, Expected::Condition),
    ] {
        let mistake = Predicate::parse(text).expect_err(text);
        assert_eq!((mistake.column, mistake.expected), (column, expected), "`{text}`: {mistake}");
    }
}

#[test]
fn sixteen_operations_and_no_more() {
    let joined = |conditions: usize| vec!["true"; conditions].join(" and ");
    assert_eq!(parse(&joined(8)).ops().len(), 15);
    assert_eq!(parse(&format!("not {}", joined(8))).ops().len(), 16);
    // The ninth `true` would be the seventeenth, after the eighth `and`.
    let mistake = Predicate::parse(&joined(9)).expect_err("17 operations");
    assert_eq!((mistake.column, mistake.expected), (joined(8).len() + 2, Expected::FewerOps));
}

#[test]
fn eight_values_deep_and_no_deeper() {
    let nested = |conditions: usize| vec!["true"; conditions].join(" and (") + &")".repeat(conditions - 1);
    assert_eq!(parse(&nested(8)).ops().len(), 15);
    let mistake = Predicate::parse(&nested(9)).expect_err("9 values");
    assert_eq!((mistake.column, mistake.expected), (nested(9).len() - "true".len() - 8 + 1, Expected::LessDepth));

    let parentheses = |pairs: usize| "(".repeat(pairs) + "true" + &")".repeat(pairs);
    assert_eq!(parse(&parentheses(32)), parse("true"));
    let mistake = Predicate::parse(&parentheses(33)).expect_err("33 pairs");
    assert_eq!((mistake.column, mistake.expected), (33, Expected::FewerParentheses));
}

#[test]
fn operations_that_do_not_go_together_are_refused() {
    assert_eq!(Predicate::from_ops(&[]), Err(Malformed::Unbalanced));
    assert_eq!(Predicate::from_ops(&[Op::True, Op::And]), Err(Malformed::Unbalanced));
    assert_eq!(Predicate::from_ops(&[Op::True, Op::True]), Err(Malformed::Unbalanced));
    assert_eq!(Predicate::from_ops(&[Op::True; 17]), Err(Malformed::TooLong));
    assert_eq!(Predicate::from_ops(&[Op::True; 9]), Err(Malformed::Unbalanced));
    // Nine values deep: eight operators would be needed, and there is room for seven.
    let mut deep = [Op::And; 16];
    deep[..9].fill(Op::True);
    assert_eq!(Predicate::from_ops(&deep), Err(Malformed::Unbalanced));
    let long = parse(&["true"; 8].join(" and "));
    assert_eq!(long.or(&long), Err(Malformed::TooLong));
}

#[test]
fn fields_are_compared_by_their_type() {
    let person = WORLD.person(2).expect("a person");
    for (text, holds) in [
        ("uid == 2", true),
        ("uid < 2", false),
        ("age == 23", true),
        ("age < 24", true),
        ("age > 23", false),
        ("sex == female", true),
        ("sex == male", false),
        ("username == \"flockr-00002\"", true),
        ("username == \"flockr-0000\"", false),
        ("hobby(cycling)", true),
        ("hobby(film)", true),
        ("hobby(badminton)", false),
        ("birthDate > 1990-01-01 and birthDate < 1991-01-01", true),
    ] {
        assert_eq!(parse(text).holds(&about(person)), holds, "{text}");
    }
    let names = format!("firstName == \"{}\" and lastName == \"{}\"", person.first_name(), person.last_name());
    assert!(parse(&names).holds(&about(person)));
}

/// Missing fields: a match is false, whatever the relation; only `not` makes it true.
#[test]
fn a_missing_field_makes_a_match_false() {
    let known = *WORLD.person(1).expect("a person");
    let silent = Profile { flags: Profile::AGE_MISSING | Profile::HOBBIES_MISSING, ..known };
    assert!(known.has_hobby(Hobby::Badminton) && known.age() == Some(48));
    for text in ["age == 48", "age < 100", "age > 0", "hobby(badminton)"] {
        assert!(!parse(text).holds(&about(&silent)), "{text}");
        assert!(parse(&format!("not {text}")).holds(&about(&silent)), "not {text}");
    }
    let single = Profile { partner: flockwork_urbiflock::NOBODY, ..known };
    for text in ["partner == 65535", "partner > 0", "partner < 65535"] {
        assert!(!parse(text).holds(&about(&single)), "{text}");
    }
}

#[test]
fn who_is_near_is_enough_for_some() {
    for (text, near) in [
        ("isNearby and partnerNearby", true),
        ("isFriend and isNearby", true),
        ("isNearby or isNearby and true", true),
        ("isNearby or isFriend", false),
        ("not not isNearby", false),
        ("not isNearby", false),
        ("partnerNearby", false),
        ("wasNearby(0)", false),
        ("isFriend and (isNearby and age < 30 or isNearby and age > 60)", true),
    ] {
        assert_eq!(parse(text).is_about_nearby(), near, "{text}");
    }
}

fn condition() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("true".to_owned()),
        Just("isFriend".to_owned()),
        Just("isNearby".to_owned()),
        Just("partnerNearby".to_owned()),
        any::<u32>().prop_map(|ms| format!("wasNearby({ms})")),
        prop::sample::select(Hobby::ALL.to_vec()).prop_map(|hobby| format!("hobby({})", hobby.name())),
        (prop::sample::select(vec!["uid", "age", "partner"]), prop::sample::select(vec!["==", "<", ">"]), any::<u16>())
            .prop_map(|(field, relation, value)| format!("{field} {relation} {value}")),
        (prop::sample::select(vec!["username", "firstName", "lastName"]), "[a-zA-Zé -]{0,6}")
            .prop_map(|(field, text)| format!("{field} == \"{text}\"")),
        prop::sample::select(vec!["sex == male", "sex == female"]).prop_map(str::to_owned),
        (prop::sample::select(vec!["==", "<", ">"]), 0_u16..9999, 1_u8..=12, 1_u8..=28)
            .prop_map(|(relation, year, month, day)| format!("birthDate {relation} {year:04}-{month:02}-{day:02}")),
    ]
}

fn sentence() -> impl Strategy<Value = String> {
    condition().prop_recursive(4, 16, 2, |part| {
        prop_oneof![
            part.clone().prop_map(|one| format!("not ({one})")),
            (part.clone(), part.clone()).prop_map(|(one, other)| format!("({one}) and ({other})")),
            (part.clone(), part.clone()).prop_map(|(one, other)| format!("({one}) or ({other})")),
            (part.clone(), part).prop_map(|(one, other)| format!("{one} and {other}")),
        ]
    })
}

proptest! {
    /// What is printed is read as the same operations, and printed the same again.
    #[test]
    fn printed_and_read_again(text in sentence()) {
        match Predicate::parse(&text) {
            Ok(predicate) => {
                let printed = predicate.to_string();
                prop_assert_eq!(Predicate::parse(&printed), Ok(predicate));
                prop_assert_eq!(Predicate::from_ops(predicate.ops()), Ok(predicate));
                prop_assert!(printed.len() <= text.len() + 8, "`{}` became `{}`", text, printed);
            }
            Err(mistake) => prop_assert!(
                matches!(mistake.expected, Expected::FewerOps | Expected::LessDepth),
                "`{}`: {}", text, mistake
            ),
        }
    }

    /// Any text is a predicate, or has a column where it is not.
    #[test]
    fn nonsense_has_a_column(
        words in prop::collection::vec(
            prop_oneof![condition(), "(and|or|not|\\(|\\)|==|<|\"| |-|[a-z0-9é]{0,3})".prop_map(String::from)],
            0..12,
        ),
        glue in prop::sample::select(vec!["", " "]),
    ) {
        let text = words.join(glue);
        match Predicate::parse(&text) {
            Ok(predicate) => prop_assert_eq!(Predicate::parse(&predicate.to_string()), Ok(predicate)),
            Err(mistake) => prop_assert!((1..=text.chars().count() + 1).contains(&mistake.column), "{}", mistake),
        }
    }
}
