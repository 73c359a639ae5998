//! What it costs to load a configuration of 2,000 tools, and to check it, beside plain parsing of the same bytes.
//!
//! `cargo bench -p jp-policy-config --bench config`. Divan prints the times; the ratios below them are measured in the same run, on the
//! same machine, so they hold on any.

use std::{hint::black_box, time::Instant};

use divan::Bencher;
use jp_policy_config::{Config, Layer, Layers, Source};

/// As many tools as anybody could have: some hundred MCP servers.
const TOOLS: usize = 2_000;

fn main() {
    divan::main();
    ratios();
}

/// A tool as jp's own are written.
fn tool(n: usize) -> String {
    let concurrency = match n % 4 {
        0 => String::new(),
        1 => "concurrency = 1\n".to_owned(),
        _ => format!("concurrency = {{ key = \"server_{}\", limit = 4 }}\n", n % 100),
    };
    format!(
        "[conversation.tools.server_{}_tool_{n}]
enable = false
run = \"unattended\"
source = \"local\"
command = \"just serve-tools {{{{context}}}} {{{{tool}}}}\"
summary = \"Find one or more issues in a repository.\"
description = \"\"\"
Returns the list of issues, newest first, with their numbers and titles.

When a number is given, the issue itself is returned with its comments.
\"\"\"
{concurrency}
[conversation.tools.server_{0}_tool_{n}.parameters.repository]
type = \"string\"
required = true
summary = \"The repository, as owner/name.\"

[conversation.tools.server_{0}_tool_{n}.parameters.number]
type = \"integer\"
summary = \"The number of the issue.\"

",
        n / 20
    )
}

fn text() -> String {
    (0..TOOLS).map(tool).collect()
}

#[divan::bench]
fn parse_alone(bencher: Bencher) {
    let text = text();
    bencher.bench(|| toml::from_str::<toml::Table>(black_box(&text)).expect("it is TOML"));
}

#[divan::bench]
fn read_into_a_tree(bencher: Bencher) {
    let source = Source::new("tools.toml", text());
    bencher.bench_local(|| tree(&source));
}

#[divan::bench]
fn load(bencher: Bencher) {
    let source = Source::new("tools.toml", text());
    bencher.bench_local(|| {
        Config::from_sources(std::slice::from_ref(black_box(&source))).expect("it holds")
    });
}

#[divan::bench]
fn check(bencher: Bencher) {
    let source = Source::new("tools.toml", text());
    let config = Config::from_sources(&[source]).expect("it holds");
    bencher.bench_local(|| black_box(&config).check());
}

fn tree(source: &Source) -> Layers {
    let mut layers = Layers::default();
    layers.source(Layer::Config, black_box(source));
    layers
}

/// The best of a few runs, in milliseconds: the rest is what else the machine does.
fn best<T>(mut run: impl FnMut() -> T) -> f64 {
    let times = (0..20).map(|_| {
        let start = Instant::now();
        let result = run();
        let took = start.elapsed();
        drop(black_box(result));
        took
    });
    times.min().unwrap_or_default().as_secs_f64() * 1e3
}

fn ratios() {
    let text = text();
    let source = Source::new("tools.toml", text.clone());
    let one = std::slice::from_ref(&source);
    let config = Config::from_sources(one).expect("it holds");
    assert!(config.warnings.is_empty(), "{:?}", config.warnings);
    let parse = best(|| toml::from_str::<toml::Table>(black_box(&text)));
    let load = best(|| Config::from_sources(black_box(one)));
    let check = best(|| config.check());
    println!("\n{TOOLS} tools, {} bytes", text.len());
    println!("plain parsing         {parse:8.2} ms");
    println!(
        "load, with all checks {load:8.2} ms   {:.2} of plain parsing; aim: under 3, and under 50 ms",
        load / parse
    );
    println!("checks alone          {check:8.2} ms   aim: under 5 ms");
}
