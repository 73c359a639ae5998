//! The host stays whole, whatever a release policy does.
//!
//! Each `hostile/*.wat` is a policy that misbehaves in one way, and says first what it does and which fault is right. It is
//! lived through in virtual time under both answers to a fault: every call starts once at most and ends with one response, the
//! fault is reported once and in so many words, and the next batch starts afresh.

mod hostile {
    mod answers;
    mod budget;
    mod clock;
    mod configure;
    mod decisions;
    mod explain;
    mod load;
    mod log;
    mod names;
    mod traps;
}
