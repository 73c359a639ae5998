//! The paths that are taken: a tree of names, in which a claim is held against all others at once.

use std::collections::BTreeMap;

use crate::claim::{Claim, Place};

/// What is read and written.
#[derive(Debug, Clone, Copy, Default)]
struct Marks {
    read: bool,
    written: bool,
}

#[derive(Debug, Default)]
struct Node {
    /// This very path.
    here: Marks,
    /// This path, or one below it.
    within: Marks,
    /// The nodes below it, by name.
    below: BTreeMap<String, usize>,
}

/// Everything that is taken. Below the first node are `/`, and where relative paths start. One list, since a path may have more
/// names than a recursion has stack.
#[derive(Debug)]
pub struct Locks(Vec<Node>);

const ALL: usize = 0;

impl Default for Locks {
    fn default() -> Self {
        Self(vec![Node::default()])
    }
}

impl Marks {
    fn add(&mut self, writes: bool) {
        if writes {
            self.written = true;
        } else {
            self.read = true;
        }
    }

    /// Reads go together, and nothing else.
    fn allow(self, writes: bool) -> bool {
        !(self.written || writes && self.read)
    }
}

impl Locks {
    /// Takes what a call claims.
    pub fn add(&mut self, claim: &Claim) {
        if claim.places.is_empty() {
            self.0[ALL].here.add(claim.writes);
            self.0[ALL].within.add(claim.writes);
        }
        for place in &claim.places {
            let mut node = ALL;
            self.0[node].within.add(claim.writes);
            for name in names(place) {
                node = match self.0[node].below.get(name) {
                    Some(next) => *next,
                    None => {
                        let next = self.0.len();
                        self.0[node].below.insert(name.to_owned(), next);
                        self.0.push(Node::default());
                        next
                    }
                };
                self.0[node].within.add(claim.writes);
            }
            self.0[node].here.add(claim.writes);
        }
    }

    /// Whether a claim goes together with all that is taken.
    pub fn allow(&self, claim: &Claim) -> bool {
        if claim.places.is_empty() {
            return self.0[ALL].within.allow(claim.writes);
        }
        claim.places.iter().all(|place| self.allow_place(place, claim.writes))
    }

    /// Whether a place goes together with all that is taken: with what is above, there, and below.
    pub fn allow_place(&self, place: &Place, writes: bool) -> bool {
        // Nobody knows where a relative path lies in `/`: anywhere.
        let other = self.0[ALL].below.get(start(!place.absolute));
        if other.is_some_and(|other| !self.0[*other].within.allow(writes)) {
            return false;
        }
        let mut node = ALL;
        for name in names(place) {
            if !self.0[node].here.allow(writes) {
                return false;
            }
            match self.0[node].below.get(name) {
                Some(next) => node = *next,
                None => return true,
            }
        }
        self.0[node].within.allow(writes)
    }

    /// Whether a call that may be anywhere writes: nothing goes together with it.
    pub fn is_whole(&self) -> bool {
        self.0[ALL].here.written
    }
}

fn names(place: &Place) -> impl Iterator<Item = &str> {
    [start(place.absolute)].into_iter().chain(place.names.iter().map(String::as_str))
}

fn start(absolute: bool) -> &'static str {
    if absolute { "/" } else { "." }
}
