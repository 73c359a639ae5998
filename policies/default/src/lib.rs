//! The default release policy as a component: the rules of the SDK, and nothing else.

jp_policy_guest::export_policy!(jp_policy_guest::rules::Rules);
