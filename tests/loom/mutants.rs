//! The models can fail: each step of the kernel's protocols that has a name is taken away, in a process of its own, and the
//! model that rests on it must then fail. A lost wake-up shows as a deadlock, or as more branches than loom allows.
//!
//! A mutant without a line in the table does not compile.

use flockwork::model::Mutant;
use std::process::Command;
use std::time::Instant;

/// What becomes of a mutant.
enum Fate {
    /// This model fails.
    Dies(&'static str),
    /// This model passes, and why.
    Survives(&'static str, &'static str),
}
use Fate::{Dies, Survives};

macro_rules! mutants {
    ($($mutant:ident => $fate:expr;)*) => {
        fn fate(mutant: Mutant) -> Fate {
            match mutant {
                $(Mutant::$mutant => $fate,)*
            }
        }

        #[expect(non_snake_case, reason = "a mutant's test has its name")]
        mod without {
            $(
                #[test]
                fn $mutant() {
                    super::check(flockwork::model::Mutant::$mutant);
                }
            )*
        }
    };
}

mutants! {
    LaneSentRelaxed => Dies("lanes::one_slot_in_order");
    LaneSentReadRelaxed => Dies("lanes::one_slot_in_order");
    LaneFreedRelaxed => Dies("lanes::two_slots_freed_out_of_order");
    LaneFreedReadRelaxed => Dies("lanes::two_slots_freed_out_of_order");
    LaneOneTooMany => Dies("lanes::one_slot_in_order");
    CutNotRepeated => Dies("age::third_sender_with_lists");
    WriterPassed => Dies("age::readers_in_hand_pass_no_writer");
    OldestNotRepeated => Dies("age::third_sender");
    StampOwnLaneOnly => Dies("age::cause_in_shared_state");
    UnlockRelaxed => Dies("monitor::two_cores_without_a_monitor");
    BellNotRung => Dies("monitor::two_cores_without_a_monitor");
    BellFence => Dies("monitor::a_reader_and_a_writer");
    NoSecondTry => Dies("monitor::two_cores_without_a_monitor");
    RingFence => Dies("monitor::two_cores_without_a_monitor");
    BellLookFence => Dies("monitor::a_reader_and_a_writer");
    ExitFence => Dies("monitor::two_cores_without_a_monitor");
    BellNotSeen => Dies("monitor::two_cores_without_a_monitor");
    EndNotSaid => Dies("borrowing::two_readers_and_a_writer");
    DoneRelaxed => Dies("borrowing::a_reader_and_a_writer");
    DoneReadRelaxed => Dies("borrowing::a_reader_and_a_writer");
    ShareRunRelaxed => Dies("monitor::a_share_before_a_writer_longer");
    ShareRunFence => Dies("monitor::a_share_is_taken_back");
    ShareWantedFence => Dies("monitor::a_share_is_taken_back");
    ShareBegunTaken => Dies("monitor::a_share_is_taken_back");
    GateIgnoresReaders => Dies("borrowing::a_reader_and_a_writer");
    GateIgnoresWriter => Dies("borrowing::two_readers_and_a_writer");
    GuestGoneRelaxed => Dies("monitor::a_guest_and_a_writer");
    GuestsReadRelaxed => Dies("monitor::a_guest_and_a_writer");
    GuestGoneFence => Dies("monitor::a_guest_and_a_writer");
    GuestsAwaitedFence => Dies("monitor::a_guest_and_a_writer");
    GuestsForgotten => Dies("monitor::a_guest_and_a_writer");
    ResolveRelaxed => Dies("promises::resolved_against_taken");
    ResolveReadRelaxed => Dies("promises::resolved_against_taken");
    CloseRelaxed => Dies("promises::both_halves_go_elsewhere");
    ReuseResolvedReadRelaxed => Dies("promises::resolved_against_dropped");
    ReuseClosedReadRelaxed => Dies("promises::both_halves_go_elsewhere");
    ReuseWithoutResolver => Dies("promises::resolved_against_dropped");
    ReuseWithoutHolder => Dies("promises::both_halves_go_elsewhere");
    ResolveFence => Dies("promises::got");
    WaitNotRechecked => Dies("promises::got");
    WaitFence => Dies("promises::got");
    RoomWantedFence => Dies("latch::room_is_told_of");
    RoomLookFence => Dies("latch::room_is_told_of");
    RoomFence => Dies("latch::room_is_told_of");
    RoomNotRechecked => Dies("latch::room_is_told_of");
    RoomForgottenLate => Dies("latch::room_is_told_of");
    WaitRoomNotTold => Dies("latch::room_of_a_turn_that_waits_is_told_of");
    WaitRoomFence => Dies("latch::room_of_a_turn_that_waits_is_told_of");
    PromiseWantedFence => Dies("latch::free_promise_slots_are_told_of");
    PromiseFreedFence => Dies("latch::free_promise_slots_are_told_of");
    NumberRelaxed => Dies("latch::first_letters");
    NumberReadRelaxed => Dies("latch::first_letters");
    NotedRelaxed => Dies(if RINGS { "latch::surplus_finds_the_idle_core" } else { "latch::a_new_actor_is_found" });
    NotedReadRelaxed => Dies(if RINGS { "latch::surplus_finds_the_idle_core" } else { "latch::a_new_actor_is_found" });
    OfferedFence => if RINGS { Survives("latch::a_new_actor_is_found", BITS_ONLY) } else { Dies("latch::what_is_offered_again_is_found") };
    OfferedLookFence => if RINGS { Survives("latch::a_new_actor_is_found", BITS_ONLY) } else { Dies("latch::what_is_offered_again_is_found") };
    OfferTakenBack => if RINGS { Survives("latch::a_new_actor_is_found", BITS_ONLY) } else { Dies("latch::what_waits_is_still_noted") };
    InviteFence => if RINGS { Survives("latch::pinned_letters_arrive", BITS_ONLY) } else { Dies("latch::pinned_letters_of_one_actor_arrive") };
    InviteTakenFence => if RINGS { Survives("latch::pinned_letters_arrive", BITS_ONLY) } else { Dies("latch::pinned_letters_of_one_actor_arrive") };
    InviteRelaxed => if RINGS { Dies("latch::pinned_letters_arrive") } else { Survives("latch::pinned_letters_arrive", RINGS_ONLY) };
    InviteReadRelaxed => if RINGS { Dies("latch::pinned_letters_arrive") } else { Survives("latch::pinned_letters_arrive", RINGS_ONLY) };
    InviteTakenRelaxed => Survives("latch::pinned_letters_arrive", if RINGS { LOAD_BUFFERING } else { RINGS_ONLY });
    InviteTakenReadRelaxed => Survives("latch::pinned_letters_arrive", if RINGS { LOAD_BUFFERING } else { RINGS_ONLY });
    IdleNotRechecked => Dies("latch::surplus_finds_the_idle_core");
    IdleAnnouncedLate => Dies("latch::surplus_finds_the_idle_core");
    IdleFence => Dies("latch::surplus_finds_the_idle_core");
    OfferFence => Dies("latch::surplus_finds_the_idle_core");
    OfferWithoutKick => Dies("latch::surplus_finds_the_idle_core");
    NoticeWithoutKick => Dies("latch::pinned_letters_arrive");
    NoticeFence => Dies("latch::pinned_letters_arrive");
    AnsweredFence => Dies("latch::room_is_told_of");
    NoticeLookFence => Dies("latch::pinned_letters_arrive");
    NoticeClearedLate => Dies("latch::pinned_letters_arrive");
}

/// Whether the models were built with rings as ready sets.
const RINGS: bool = cfg!(flockwork_rings);
const BITS_ONLY: &str = "a step of ready sets as words, and these are rings";
const RINGS_ONLY: &str = "a step of ready sets as rings, and these are words";

/// An entry of the invitations is itself atomic and read before its place is given back. To see the next entry there
/// instead, the read would have to take place after a store that follows it: load buffering, which loom does not explore.
const LOAD_BUFFERING: &str = "only load buffering would show it, and loom does not explore that";

fn check(mutant: Mutant) {
    let (model, survives) = match fate(mutant) {
        Dies(model) => (model, None),
        Survives(model, why) => (model, Some(why)),
    };
    let program = std::env::current_exe().expect("the test knows its own program");
    let start = Instant::now();
    let run = Command::new(program)
        .args([model, "--exact", "--nocapture", "--include-ignored"])
        .env("FLOCKWORK_MUTANT", format!("{mutant:?}"))
        .output()
        .expect("the test can run its own program");
    let seconds = start.elapsed().as_secs_f32();
    let output = String::from_utf8_lossy(&run.stdout).into_owned() + &String::from_utf8_lossy(&run.stderr);
    assert!(output.contains("running 1 test"), "there is no model `{model}`:\n{output}");
    match survives {
        None => {
            assert!(!run.status.success(), "{mutant:?} survives in `{model}`:\n{output}");
            println!("mutant {mutant:?}: dies in {model}, {seconds:.1} s");
        }
        Some(why) => {
            assert!(run.status.success(), "{mutant:?} is said to survive in `{model}`, but it dies:\n{output}");
            println!("mutant {mutant:?}: survives in {model}, {seconds:.1} s: {why}");
        }
    }
}
