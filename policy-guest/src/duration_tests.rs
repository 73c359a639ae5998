use super::*;

const S: Instant = 1_000_000_000;

const NEGATIVE: &str = "a pause can't be negative";
const TOO_LONG: &str = "a pause can't be longer than 584 years";

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

#[test]
fn taken() {
    let taken = [
        (text("0s"), 0),
        (text("7ns"), 7),
        (text("7us"), 7_000),
        (text("250ms"), 250_000_000),
        (text("007s"), 7 * S),
        (text("1m"), 60 * S),
        (text("2h"), 7200 * S),
        (text("18446744073709551615ns"), u64::MAX),
        (Value::Integer(2), 2 * S),
        (Value::Number(1.5), 1_500_000_000),
        (Value::Number(0.000_000_000_6), 1),
        (Value::Number(-0.0), 0),
    ];
    for (value, nanos) in taken {
        assert_eq!(read(&value, "a pause"), Ok(nanos), "{value:?}");
    }
}

#[test]
fn refused() {
    let refused = [
        (text(""), FORM),
        (text("2"), FORM),
        (text("s"), FORM),
        (text("-"), FORM),
        (text("2 s"), FORM),
        (text("1.5s"), FORM),
        (text("2sec"), FORM),
        (text("٢s"), FORM),
        (text("2s\n"), FORM),
        (text("-2s"), NEGATIVE),
        (text("18446744073709551616ns"), TOO_LONG),
        (text("99999999h"), TOO_LONG),
        (Value::Integer(-1), NEGATIVE),
        (Value::Integer(i64::MAX), TOO_LONG),
        (Value::Number(f64::NAN), FORM),
        (Value::Number(-1e-300), NEGATIVE),
        (Value::Number(f64::INFINITY), TOO_LONG),
        (Value::Number(18_446_744_073.709_553), TOO_LONG),
        (Value::Flag(true), FORM),
        (Value::Json("[2]".to_owned()), FORM),
    ];
    for (value, why) in refused {
        assert_eq!(read(&value, "a pause"), Err(why.to_owned()), "{value:?}");
    }
}

#[test]
fn shown() {
    let shown = [0, 1, 250_000_000, S, 61 * S + 500].map(seconds);
    assert_eq!(shown, ["0s", "0.000000001s", "0.25s", "1s", "61.0000005s"]);
}
