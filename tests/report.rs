//! What is shown of batches that were lived through: in a terminal, as pictures, traces and accounts.

mod report {
    mod decisions;
    mod explain;
    mod side_by_side;
    mod svg;
    mod timeline;
    mod trace;
}
