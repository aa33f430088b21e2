//! Searches, sets and lists shared by several strategies. Code used by only one strategy is in that
//! strategy's module.

pub(crate) mod base_search;
pub(crate) mod bit_set;
pub(crate) mod box_finder;
pub(crate) mod buddies;
pub(crate) mod busy_list;
pub(crate) mod components;
pub(crate) mod contact;
pub(crate) mod contact_search;
pub(crate) mod coverage;
pub(crate) mod factor_shapes;
pub(crate) mod folds;
pub(crate) mod free_list;
pub(crate) mod free_set;
pub(crate) mod l_shapes;
pub(crate) mod linear_order;
pub(crate) mod meeting_costs;
pub(crate) mod prefix_sums;
pub(crate) mod ranked_shapes;
pub(crate) mod right_borders;
pub(crate) mod runs;
pub(crate) mod search_strategy;
pub(crate) mod turning;
