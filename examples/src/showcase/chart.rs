//! Points in the terminal.

/// Points that belong together, and the sign that stands for one.
pub(crate) struct Points {
    pub(crate) sign: char,
    pub(crate) name: &'static str,
    pub(crate) points: Vec<(usize, f64)>,
}

/// What a line of the chart can stand for.
const STEPS: [f64; 9] = [0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 25.0];
/// How many lines there are at most, if one of the steps allows it: a chart is seen at a glance.
const LINES: i64 = 22;
/// How wide a place on the x axis is.
const WIDTH: usize = 6;

/// A chart of speed-ups over numbers of people. The axis goes from 1 to 2, and further where points are there.
pub(crate) fn draw(xs: &[usize], series: &[Points]) -> String {
    let all = || series.iter().flat_map(|series| series.points.iter().map(|point| point.1));
    let (highest, lowest) = (all().fold(2.0, f64::max), all().fold(1.0, f64::min));
    let line_at = |step: f64, y: f64| (y / step).round() as i64;
    let fits = |step: &f64| line_at(*step, highest) - line_at(*step, lowest) < LINES;
    let step = STEPS.into_iter().find(fits).unwrap_or(STEPS[STEPS.len() - 1]);
    let line_of = |y: f64| line_at(step, y);
    let (top, bottom) = (line_of(highest), line_of(lowest));
    let mut text = String::new();
    for line in (bottom..=top).rev() {
        let labelled = line % 2 == 0;
        text += &if labelled { format!("  {:>4.1} ┤", line as f64 * step) } else { format!("  {:>4} │", "") };
        let mut row = String::new();
        for x in xs {
            let here =
                series.iter().filter(|series| series.points.iter().any(|&(at, y)| at == *x && line_of(y) == line));
            let signs: String = here.map(|series| series.sign).collect();
            row += &format!("{signs:^WIDTH$}");
        }
        text += row.trim_end();
        text += "\n";
    }
    text += &format!("       └{}\n        ", "─".repeat(WIDTH * xs.len()));
    xs.iter().for_each(|x| text += &format!("{x:^WIDTH$}"));
    text += "people\n        ";
    text + &series.iter().map(|series| format!("{} {}", series.sign, series.name)).collect::<Vec<_>>().join("    ")
        + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_stand_where_they_belong() {
        let series = [
            Points { sign: 'o', name: "ours", points: vec![(1, 1.52), (2, 2.0)] },
            Points { sign: 'x', name: "theirs", points: vec![(2, 1.98)] },
        ];
        let chart = draw(&[1, 2], &series);
        let lines: Vec<&str> = chart.lines().collect();
        assert_eq!(lines[0], "   2.0 ┤        ox");
        assert_eq!(lines[10], "   1.5 ┤  o");
        assert_eq!(lines[20], "   1.0 ┤");
        assert_eq!(lines[22].trim_end(), "          1     2   people");
        assert_eq!(lines[23].trim(), "o ours    x theirs");
    }

    #[test]
    fn the_axis_reaches_the_points() {
        let series = [Points { sign: 'o', name: "ours", points: vec![(1, 0.8), (1, 2.2)] }];
        let chart = draw(&[1], &series);
        assert!(chart.starts_with("   2.2 ┤  o\n"), "{chart}");
        assert!(chart.contains("   0.8 ┤  o\n"), "{chart}");
    }

    #[test]
    fn many_cores_do_not_make_a_tall_chart() {
        for highest in [3.1, 7.9, 15.0, 63.0] {
            let series = [Points { sign: 'o', name: "ours", points: vec![(1, 1.0), (2, highest)] }];
            let chart = draw(&[1, 2], &series);
            assert!(chart.lines().count() <= 26, "{chart}");
            assert_eq!(chart.matches('o').count(), 5, "two points, `people`, a sign and its name:\n{chart}");
        }
    }
}
