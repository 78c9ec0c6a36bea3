//! Steps: named pieces of a command that pass, fail or are skipped, and the summary that says which did what.

use crate::{
    args::{Args, Misuse},
    invocation::seconds,
};
use std::{
    fmt,
    process::ExitCode,
    time::{Duration, Instant},
};

/// A piece of a command with a name of its own. The name may have a group in front: `targets/thumbv6m-none-eabi`.
pub(crate) struct Step {
    name: String,
    about: String,
    work: Box<dyn Fn() -> Result<(), Stop>>,
}

/// Why a step did not pass, in one line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    Failed(String),
    /// The machine lacks something; the line says what to install.
    Skipped(String),
}

impl Step {
    pub(crate) fn new(
        name: impl Into<String>,
        about: impl Into<String>,
        work: impl Fn() -> Result<(), Stop> + 'static,
    ) -> Self {
        Self { name: name.into(), about: about.into(), work: Box::new(work) }
    }

    /// Whether `--only asked` means this step: by its name, or by its group.
    fn answers_to(&self, asked: &str) -> bool {
        self.name.strip_prefix(asked).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

/// Ends a command that is no list of steps: if it did not pass, one line says why.
pub(crate) fn exit_code(command: &str, outcome: Result<(), Stop>) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(Stop::Failed(why) | Stop::Skipped(why)) => {
            eprintln!("xtask {command}: {why}");
            ExitCode::FAILURE
        }
    }
}

/// Runs a command made of steps: `[--only STEP]... [--fail-fast] [--list [--json]]`.
pub(crate) fn run_steps(steps: Vec<Step>, mut args: Args) -> Result<ExitCode, Misuse> {
    let only = args.values("--only")?;
    let fail_fast = args.flag("--fail-fast");
    let list = args.flag("--list");
    let json = args.flag("--json");
    args.nothing_else()?;
    if json && !list {
        return Err(Misuse(
            "--json: only `--list` prints for programs; a step prints what its programs print".to_owned(),
        ));
    }

    let steps = select(steps, &only)?;
    if list && json {
        print!("{}", as_json(&steps));
        return Ok(ExitCode::SUCCESS);
    }
    if list {
        let width = steps.iter().map(|step| step.name.len()).max().unwrap_or(0);
        for step in &steps {
            println!("{:<width$}  {}", step.name, step.about);
        }
        return Ok(ExitCode::SUCCESS);
    }
    let summary = run(&steps, fail_fast);
    println!("\n{summary}");
    Ok(if summary.failed() == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The list of steps for programs. Names and descriptions have nothing that would need quoting.
fn as_json(steps: &[Step]) -> String {
    let line = |Step { name, about, .. }: &Step| {
        debug_assert!(!format!("{name}{about}").contains(['"', '\\']), "this would need quoting: {about}");
        format!(r#"    {{"name": "{name}", "about": "{about}"}}"#)
    };
    format!("{{\n  \"steps\": [\n{}\n  ]\n}}\n", steps.iter().map(line).collect::<Vec<_>>().join(",\n"))
}

/// The steps that were asked for, in their own order; all if none was.
fn select(steps: Vec<Step>, only: &[String]) -> Result<Vec<Step>, Misuse> {
    if let Some(unknown) = only.iter().find(|asked| !steps.iter().any(|step| step.answers_to(asked))) {
        let names: Vec<&str> = steps.iter().map(|step| step.name.as_str()).collect();
        return Err(Misuse(format!("there is no step `{unknown}`; there are: {}", names.join(", "))));
    }
    let wanted = |step: &Step| only.is_empty() || only.iter().any(|asked| step.answers_to(asked));
    Ok(steps.into_iter().filter(wanted).collect())
}

fn run(steps: &[Step], fail_fast: bool) -> Summary {
    let mut summary = Summary(Vec::new());
    for (position, step) in steps.iter().enumerate() {
        let started = Instant::now();
        let outcome = if fail_fast && summary.failed() > 0 {
            Err(Stop::Skipped("an earlier step failed".to_owned()))
        } else {
            println!("\n== {} ({} of {}): {}", step.name, position + 1, steps.len(), step.about);
            (step.work)()
        };
        let line = Line { name: step.name.clone(), outcome, elapsed: started.elapsed() };
        println!("== {line}");
        summary.0.push(line);
    }
    summary
}

/// What became of each step. It displays as one line for each, and a last line that counts them.
struct Summary(Vec<Line>);

struct Line {
    name: String,
    outcome: Result<(), Stop>,
    elapsed: Duration,
}

impl Summary {
    fn failed(&self) -> usize {
        self.0.iter().filter(|line| matches!(line.outcome, Err(Stop::Failed(_)))).count()
    }

    fn skipped(&self) -> usize {
        self.0.iter().filter(|line| matches!(line.outcome, Err(Stop::Skipped(_)))).count()
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|line| writeln!(f, "{line}"))?;
        let passed = self.0.len() - self.failed() - self.skipped();
        write!(f, "{passed} passed, {} failed, {} skipped", self.failed(), self.skipped())
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (word, why) = match &self.outcome {
            Ok(()) => ("ok", None),
            Err(Stop::Failed(why)) => ("failed", Some(why)),
            Err(Stop::Skipped(why)) => ("skipped", Some(why)),
        };
        write!(f, "{word:<7}  {:<36} {:>12}", self.name, seconds(self.elapsed))?;
        why.map_or(Ok(()), |why| write!(f, "  {why}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{cell::RefCell, rc::Rc};

    /// Three steps in two groups that note that they ran; the second fails.
    fn steps(ran: &Rc<RefCell<Vec<&'static str>>>) -> Vec<Step> {
        ["unit", "targets/arm", "targets/riscv"]
            .map(|name| {
                let ran = Rc::clone(ran);
                Step::new(name, "about", move || {
                    ran.borrow_mut().push(name);
                    if name == "targets/arm" { Err(Stop::Failed("broken".to_owned())) } else { Ok(()) }
                })
            })
            .into()
    }

    fn names(only: &[&str]) -> Result<Vec<String>, Misuse> {
        let only: Vec<String> = only.iter().map(|&word| word.to_owned()).collect();
        Ok(select(steps(&Rc::default()), &only)?.into_iter().map(|step| step.name).collect())
    }

    #[test]
    fn only_selects_by_name_and_by_group_in_order() {
        assert_eq!(names(&[]).unwrap(), ["unit", "targets/arm", "targets/riscv"]);
        assert_eq!(names(&["targets"]).unwrap(), ["targets/arm", "targets/riscv"]);
        assert_eq!(names(&["targets/riscv", "unit"]).unwrap(), ["unit", "targets/riscv"]);
    }

    #[test]
    fn the_list_for_programs_has_every_step() {
        let json = as_json(&steps(&Rc::default()));
        let expected = r#"    {"name": "unit", "about": "about"},
    {"name": "targets/arm", "about": "about"},
    {"name": "targets/riscv", "about": "about"}
"#;
        assert_eq!(json, format!("{{\n  \"steps\": [\n{expected}  ]\n}}\n"));
        let json_alone = run_steps(steps(&Rc::default()), Args::new(vec!["--json".to_owned()]));
        assert!(json_alone.is_err(), "there is no list to print");
    }

    #[test]
    fn an_unknown_step_is_a_misuse_that_names_the_known_ones() {
        let Err(Misuse(why)) = names(&["target"]) else { panic!("`target` is no step and no group") };
        assert!(why.contains("`target`") && why.contains("targets/arm"), "{why}");
    }

    #[test]
    fn a_failure_does_not_stop_the_others() {
        let ran = Rc::default();
        let summary = run(&steps(&ran), false);
        assert_eq!(*ran.borrow(), ["unit", "targets/arm", "targets/riscv"]);
        assert_eq!(summary.to_string().lines().last(), Some("2 passed, 1 failed, 0 skipped"));
    }

    #[test]
    fn fail_fast_skips_what_follows_and_says_so() {
        let ran = Rc::default();
        let summary = run(&steps(&ran), true);
        assert_eq!(*ran.borrow(), ["unit", "targets/arm"]);
        assert_eq!(summary.to_string().lines().last(), Some("1 passed, 1 failed, 1 skipped"));
        assert!(summary.to_string().contains("an earlier step failed"));
    }

    #[test]
    fn the_exit_code_tells_a_failure() {
        let code = |only: &str| {
            run_steps(steps(&Rc::default()), Args::new(vec![format!("--only={only}")])).map(|code| format!("{code:?}"))
        };
        assert_eq!(code("unit"), Ok(format!("{:?}", ExitCode::SUCCESS)));
        assert_eq!(code("targets"), Ok(format!("{:?}", ExitCode::FAILURE)));
    }
}
