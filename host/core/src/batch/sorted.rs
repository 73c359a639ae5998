//! Sets and maps in ascending order, almost always of a handful.
//!
//! A batch has a few calls, rarely thousands. A few entries stand in line, without an allocation of their own, so that to
//! copy a batch, as the checker does millions of times, is to copy memory; many are kept in a tree.

use std::collections::BTreeMap;

use smallvec::SmallVec;

/// How many entries stand inside the map itself.
const INLINE: usize = 4;

/// How many entries are looked through in line before they move into a tree, where they stay.
const FEW: usize = 32;

/// A map in the order of its keys. A change costs the logarithm of its length.
#[derive(Debug)]
pub(super) struct Sorted<K, V>(Entries<K, V>);

#[derive(Debug)]
enum Entries<K, V> {
    Few(SmallVec<[(K, V); INLINE]>),
    Many(BTreeMap<K, V>),
}

/// A set in ascending order.
pub(super) type SortedSet<K> = Sorted<K, ()>;

impl<K, V> Default for Sorted<K, V> {
    fn default() -> Self {
        Self(Entries::Few(SmallVec::new()))
    }
}

// The derived one would go through the entries one by one.
impl<K: Copy, V: Copy> Clone for Sorted<K, V> {
    fn clone(&self) -> Self {
        Self(match &self.0 {
            Entries::Few(few) => Entries::Few(SmallVec::from_slice(few)),
            Entries::Many(many) => Entries::Many(many.clone()),
        })
    }
}

impl<K: Ord + Copy, V> Sorted<K, V> {
    /// How many entries it has.
    pub(super) fn len(&self) -> usize {
        match &self.0 {
            Entries::Few(few) => few.len(),
            Entries::Many(many) => many.len(),
        }
    }

    /// Whether it has none.
    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value of a key.
    pub(super) fn get(&self, key: K) -> Option<&V> {
        match &self.0 {
            Entries::Few(few) => {
                let place = few.binary_search_by_key(&key, |(key, _)| *key).ok()?;
                Some(&few[place].1)
            }
            Entries::Many(many) => many.get(&key),
        }
    }

    /// Puts a value in the key's place.
    pub(super) fn put(&mut self, key: K, value: V) {
        match &mut self.0 {
            Entries::Few(few) => match few.binary_search_by_key(&key, |(key, _)| *key) {
                Ok(place) => few[place].1 = value,
                Err(place) if few.len() < FEW => few.insert(place, (key, value)),
                Err(_) => {
                    let mut many: BTreeMap<K, V> = std::mem::take(few).into_iter().collect();
                    many.insert(key, value);
                    self.0 = Entries::Many(many);
                }
            },
            Entries::Many(many) => {
                many.insert(key, value);
            }
        }
    }

    /// Takes the entry of a key out.
    pub(super) fn take(&mut self, key: K) -> Option<V> {
        match &mut self.0 {
            Entries::Few(few) => {
                let place = few.binary_search_by_key(&key, |(key, _)| *key).ok()?;
                Some(few.remove(place).1)
            }
            Entries::Many(many) => many.remove(&key),
        }
    }

    /// The entries in the order of their keys.
    pub(super) fn iter(&self) -> impl Iterator<Item = (K, &V)> {
        let (few, many) = match &self.0 {
            Entries::Few(few) => (Some(few), None),
            Entries::Many(many) => (None, Some(many)),
        };
        let few = few.into_iter().flatten().map(|(key, value)| (*key, value));
        few.chain(many.into_iter().flatten().map(|(key, value)| (*key, value)))
    }

    /// The keys in ascending order.
    pub(super) fn keys(&self) -> impl Iterator<Item = K> {
        self.iter().map(|(key, _)| key)
    }
}

impl<K: Ord + Copy> SortedSet<K> {
    /// Puts the key in or takes it out.
    pub(super) fn set(&mut self, key: K, member: bool) {
        if member {
            self.put(key, ());
        } else {
            self.take(key);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Few or many, it is a map.
        #[test]
        fn is_a_map(steps in prop::collection::vec((any::<bool>(), 0_u8..80, any::<u8>()), 0..200)) {
            let mut sorted = Sorted::default();
            let mut map = BTreeMap::new();
            for (put, key, value) in steps {
                if put {
                    sorted.put(key, value);
                    map.insert(key, value);
                } else {
                    prop_assert_eq!(sorted.take(key), map.remove(&key));
                }
                prop_assert_eq!(sorted.get(key), map.get(&key));
                prop_assert_eq!(sorted.len(), map.len());
                prop_assert!(sorted.iter().eq(map.iter().map(|(key, value)| (*key, value))));
            }
        }
    }
}
