//! Estimates what compiling a component costs before it is compiled: the compiler has no budget of its own, and a small file can
//! make it take minutes.

use wasmparser::{Operator, Parser, Payload};

/// Blocks times locals of one function: what the compiler's work grows with, worst case.
///
/// 1,000 of each (a million) compile in a fraction of a second; 10,000 of each take minutes and gigabytes. The interpreter loops of
/// scripting guests have some 1,000 locals in a few thousand blocks.
const MAX_COST: u64 = 20_000_000;

/// The cost of the first function that costs more than [`MAX_COST`], in blocks times locals. What can't be parsed costs nothing: the
/// compiler reports it better.
pub(super) fn excessive(component: &[u8]) -> Option<u64> {
    let payloads = Parser::new(0).parse_all(component).map_while(Result::ok);
    let functions = payloads.filter_map(|payload| match payload {
        Payload::CodeSectionEntry(body) => Some(body),
        _ => None,
    });
    functions.map(|body| cost(&body).unwrap_or(0)).find(|cost| *cost > MAX_COST)
}

fn cost(body: &wasmparser::FunctionBody<'_>) -> wasmparser::Result<u64> {
    let mut locals = 0;
    for group in body.get_locals_reader()? {
        locals += u64::from(group?.0);
    }
    let mut blocks = 0;
    for operator in body.get_operators_reader()? {
        blocks += match operator? {
            Operator::Block { .. }
            | Operator::Loop { .. }
            | Operator::If { .. }
            | Operator::BrIf { .. } => 1,
            Operator::BrTable { targets } => u64::from(targets.len()),
            _ => 0,
        };
    }
    Ok(locals.saturating_mul(blocks))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DEFAULT;

    /// A module of one function with this many locals, and as many blocks that use them.
    fn bomb(n: usize) -> Vec<u8> {
        let block =
            "(block (br_if 0 (local.get 1)) (local.set 2 (i32.add (local.get 3) (local.get 4))))";
        let text = format!("(module (func (local {}) {}))", "i32 ".repeat(n), block.repeat(n));
        wat::parse_str(text).expect("it parses")
    }

    #[test]
    fn a_function_that_would_take_minutes_is_found() {
        assert_eq!(excessive(&bomb(1_000)), None);
        assert_eq!(excessive(&bomb(10_000)), Some(200_000_000));
        assert_eq!(excessive(DEFAULT), None);
        assert_eq!(excessive(b"\0asm garbage"), None);
    }
}
