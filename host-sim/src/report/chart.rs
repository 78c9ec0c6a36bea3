//! A figure of several series over one horizontal axis.

use std::fmt::{self, Write};

use super::axis::{Axis, draw_horizontal, draw_vertical};
use super::{COLOURS, escaped};
use crate::figures::rounded;

const WIDTH: f64 = 920.0;
const HEIGHT: f64 = 380.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = WIDTH - 16.0;
const TOP: f64 = 32.0;
const BOTTOM: f64 = HEIGHT - 48.0;

/// A figure of several series over one horizontal axis.
#[derive(Clone, Debug)]
#[must_use = "a chart is nowhere until it is added to a report"]
pub struct Chart {
    title: String,
    x: String,
    y: String,
    note: String,
    series: Vec<Series>,
    guides: Vec<(f64, String)>,
    y_from: f64,
    is_logarithmic: bool,
}

#[derive(Clone, Debug)]
struct Series {
    name: String,
    points: Vec<(f64, f64)>,
    is_line: bool,
}

impl Chart {
    /// A figure without series; `x` and `y` say what its axes show, with the unit.
    pub fn new(title: impl fmt::Display, x: impl fmt::Display, y: impl fmt::Display) -> Self {
        Self {
            title: escaped(title),
            x: escaped(x),
            y: escaped(y),
            note: String::new(),
            series: Vec::new(),
            guides: Vec::new(),
            y_from: 0.0,
            is_logarithmic: false,
        }
    }

    /// A sentence below the title.
    pub fn note(self, text: impl fmt::Display) -> Self {
        Self { note: format!("<p class=\"note\">{}</p>\n", escaped(text)), ..self }
    }

    /// The vertical axis begins here, and not at 0, unless there are points below.
    pub fn y_from(self, y_from: f64) -> Self {
        Self { y_from, ..self }
    }

    /// Each step of the vertical axis multiplies, for series of very different size. Points at 0 or below are left out.
    pub fn logarithmic(self) -> Self {
        Self { is_logarithmic: true, ..self }
    }

    /// A dashed line over the whole width, such as the best that is possible.
    pub fn guide(mut self, y: f64, name: impl fmt::Display) -> Self {
        self.guides.push((y, escaped(name)));
        self
    }

    /// A series that is drawn as a line with marks. A series without points is not shown.
    pub fn line(self, name: impl fmt::Display, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        self.series(name, points, true)
    }

    /// A series that is drawn as marks only, such as figures of others.
    pub fn points(self, name: impl fmt::Display, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        self.series(name, points, false)
    }

    fn series(mut self, name: impl fmt::Display, points: impl IntoIterator<Item = (f64, f64)>, is_line: bool) -> Self {
        let points = points.into_iter().filter(|(x, y)| x.is_finite() && y.is_finite()).collect::<Vec<_>>();
        if !points.is_empty() {
            self.series.push(Series { name: escaped(name), points, is_line });
        }
        self
    }

    pub(super) fn to_html(&self) -> String {
        let Self { title, note, .. } = self;
        format!(
            "<section><h2>{title}</h2>\n{note}{}<div class=\"wide\">{}</div></section>\n",
            self.legend(),
            self.to_svg()
        )
    }

    fn legend(&self) -> String {
        let items = self.series.iter().enumerate().map(|(place, Series { name, is_line, .. })| {
            let line = if *is_line { "<path class=\"line\" d=\"M0 7H26\"/>" } else { "" };
            let class = format!("stroke-{} colour-{}", place % COLOURS, place % COLOURS);
            format!(
                "<li><svg class=\"long {class}\" viewBox=\"0 0 26 14\">{line}{}</svg>{name}</li>",
                mark(place, 13.0, 7.0, "")
            )
        });
        // Not beside its line, where a series may pass.
        let guides = self.guides.iter().map(|(_, name)| {
            format!(
                "<li><svg class=\"long\" viewBox=\"0 0 26 14\"><path class=\"guide\" d=\"M0 7H26\"/></svg>{name}</li>"
            )
        });
        format!("<ul class=\"legend\">{}</ul>\n", items.chain(guides).collect::<String>())
    }

    /// Points that can be shown.
    fn shown<'a>(&self, series: &'a Series) -> impl Iterator<Item = (f64, f64)> + Clone + 'a {
        let least = if self.is_logarithmic { f64::MIN_POSITIVE } else { f64::MIN };
        series.points.iter().copied().filter(move |(_, y)| *y >= least)
    }

    fn axes(&self) -> (Axis, Axis) {
        let all = || self.series.iter().flat_map(|series| self.shown(series));
        let least = |values: &mut dyn Iterator<Item = f64>| values.fold(f64::INFINITY, f64::min);
        let most = |values: &mut dyn Iterator<Item = f64>| values.fold(f64::NEG_INFINITY, f64::max);
        let finite = |value: f64, otherwise: f64| if value.is_finite() { value } else { otherwise };
        let x = Axis::linear(0.0, finite(most(&mut all().map(|(x, _)| x)), 1.0), 10, (LEFT, RIGHT));
        let guides = || self.guides.iter().map(|(y, _)| *y);
        let highest = finite(most(&mut all().map(|(_, y)| y).chain(guides())), 1.0);
        let lowest = finite(least(&mut all().map(|(_, y)| y)), 1.0);
        let y = if self.is_logarithmic {
            Axis::logarithmic(lowest, highest, (BOTTOM, TOP))
        } else {
            Axis::linear(self.y_from.min(lowest.floor()), highest, 6, (BOTTOM, TOP))
        };
        (x, y)
    }

    fn to_svg(&self) -> String {
        let (x_axis, y_axis) = self.axes();
        let mut svg = format!("<svg class=\"figure\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\">");
        let _ = write!(svg, "<title>{}</title>", self.title);
        draw_vertical(&mut svg, &y_axis, 6, (LEFT, RIGHT), &self.y);
        draw_horizontal(&mut svg, &x_axis, 10, (TOP, BOTTOM), &self.x);
        if y_axis.from < 0.0 && !y_axis.is_logarithmic {
            let _ = write!(svg, "<path class=\"axis\" d=\"M{LEFT} {:.1}H{RIGHT}\"/>", y_axis.at(0.0));
        }
        for (y, name) in &self.guides {
            let y = y_axis.at(*y);
            let _ = write!(svg, "<path class=\"guide\" d=\"M{LEFT} {y:.1}H{RIGHT}\"><title>{name}</title></path>");
        }
        for (place, series) in self.series.iter().enumerate() {
            let colour = place % COLOURS;
            let _ = write!(svg, "<g class=\"stroke-{colour} colour-{colour}\">");
            let placed = self.shown(series).map(|(x, y)| (x_axis.at(x), y_axis.at(y)));
            if series.is_line {
                let steps = placed.clone().map(|(x, y)| format!("{x:.1} {y:.1}")).collect::<Vec<_>>();
                let _ = write!(svg, "<path class=\"line\" d=\"M{}\"/>", steps.join("L"));
            }
            for ((x, y), (x_value, y_value)) in placed.zip(self.shown(series)) {
                let what = format!("{}: {} at {}", series.name, rounded(y_value), rounded(x_value));
                svg += &mark(place, x, y, &what);
            }
            svg += "</g>";
        }
        svg + "</svg>\n"
    }
}

/// A mark, of another shape for each series: colours alone do not tell everyone what is what.
fn mark(series: usize, x: f64, y: f64, what: &str) -> String {
    let title = if what.is_empty() { String::new() } else { format!("<title>{what}</title>") };
    let path = match series % 4 {
        0 => return format!("<circle class=\"mark\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4.5\">{title}</circle>"),
        1 => format!("M{:.1} {:.1}h8v8h-8z", x - 4.0, y - 4.0),
        2 => format!("M{x:.1} {:.1}l5 9h-10z", y - 5.5),
        _ => format!("M{x:.1} {:.1}l5.5 5.5l-5.5 5.5l-5.5 -5.5z", y - 5.5),
    };
    format!("<path class=\"mark\" d=\"{path}\">{title}</path>")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_point_is_marked_and_only_lines_are_lines() {
        let chart = Chart::new("t", "people", "×").line("a", [(1.0, 1.0), (2.0, 1.5)]).points("b", [(1.0, 1.2)]);
        let svg = chart.to_svg();
        assert_eq!(svg.matches("class=\"mark\"").count(), 3);
        assert_eq!(svg.matches("class=\"line\"").count(), 1);
        assert!(svg.contains("<title>b: 1.20 at 1.00</title>"), "{svg}");
    }

    #[test]
    fn nothing_is_drawn_outside_of_the_axes() {
        let chart = Chart::new("t", "x", "y").y_from(1.0).guide(2.0, "best").line("a", [(50.0, 0.4), (500.0, 1.97)]);
        let (x, y) = chart.axes();
        assert!(y.from <= 0.4 && y.to >= 2.0 && x.to >= 500.0, "{y:?}");
        let (_, y) = Chart::new("t", "x", "y").y_from(1.0).line("a", [(50.0, 1.4)]).axes();
        assert_eq!(y.from, 1.0);
        let (_, y) =
            Chart::new("t", "x", "y").logarithmic().line("a", [(50.0, 0.0), (60.0, 30.0), (70.0, 4000.0)]).axes();
        assert_eq!((y.from, y.to), (20.0, 5000.0));
    }

    #[test]
    fn a_chart_without_points_is_still_a_picture() {
        let html = Chart::new("t", "x", "y").line("a", []).points("b", [(f64::NAN, 1.0)]).to_html();
        assert!(!html.contains("NaN") && !html.contains("inf"), "{html}");
    }
}
