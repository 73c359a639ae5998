use super::*;
use crate::bench::sample::sample;

#[test]
fn a_plot() {
    insta::assert_snapshot!(plot(&sample()));
}

#[test]
fn a_plot_of_nothing_is_a_plot() {
    let mut bench = sample();
    bench.policy.by_calls.clear();
    bench.default.by_calls.clear();
    bench.policy.identity.name = "\u{1b}[31m\u{0}".to_owned();
    let svg = plot(&bench);
    assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    assert!(!svg.chars().any(|c| c.is_control() && c != '\n'), "{svg}");
}

#[test]
fn an_axis_has_all_values_and_is_at_least_a_power_of_ten_long() {
    let axis = |values: &[f64]| {
        let axis = Axis::around(values.iter().copied(), true, [0.0, 100.0]);
        (axis.low, axis.high)
    };
    assert_eq!(axis(&[2_400.0]), (3.0, 4.0));
    assert_eq!(axis(&[1_000.0]), (3.0, 4.0));
    assert_eq!(axis(&[7.0, 1_200_000.0]), (0.0, 7.0));
    assert_eq!(axis(&[]), (0.0, 1.0));
    let axis = Axis { low: 3.0, high: 5.0, from: 200.0, to: 0.0 };
    let places = [1e3, 1e4, 1e5].map(|value| format!("{:.3}", axis.place(value)));
    assert_eq!(places, ["200.000", "100.000", "0.000"]);
    assert_eq!(axis.ticks().len(), 7);
}

#[test]
fn labels_are_short() {
    let times = [1.0, 500.0, 1e3, 2e4, 1e6, 5e8, 1e9, 2e10].map(nanoseconds);
    assert_eq!(times, ["1 ns", "500 ns", "1 µs", "20 µs", "1 ms", "500 ms", "1 s", "20 s"]);
    let counts = [1.0, 16.0, 1e3, 2_500.0, 1e5, 5e8, 1e9].map(count);
    assert_eq!(counts, ["1", "16", "1 k", "2.5 k", "100 k", "500 M", "1 G"]);
}

#[test]
fn names_do_not_cover_each_other_and_stay_in_the_panel() {
    let places = |ends: [f64; 2]| {
        let mut svg = String::new();
        place_names(
            &mut svg,
            vec![(ends[0], "a", "red"), (ends[1], "b", "blue")],
            0.0,
            [0.0, 100.0],
        );
        let y = svg.split("y=\"").skip(1).filter_map(|rest| rest.split('"').next()?.parse().ok());
        y.collect::<Vec<f64>>()
    };
    assert_eq!(places([10.0, 60.0]), [14.5, 64.5]);
    assert_eq!(places([50.0, 50.0]), [54.5, 71.5]);
    assert_eq!(places([100.0, 100.0]), [87.5, 104.5]);
}
