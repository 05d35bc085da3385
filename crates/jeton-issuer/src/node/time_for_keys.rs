//! The time by which keys are published, and whether this node may decide it.
//!
//! A key that is published by a clock that is behind signs too early by the other clocks, before verifiers have it.

use jeton_store::Moment;

use super::clock_agreement::Agreement;
use super::inner::Inner;
use super::lock::lock;
use crate::error::{Error, Result};
use crate::limits::CLOCK_SKEW_SECONDS;

impl Inner {
    /// Returns the latest of this clock and those that agree with the majority.
    ///
    /// # Errors
    ///
    /// [`Error::ClockApart`] and [`Error::ClocksDisagree`] by the records of running nodes, [`Error::ClockBehind`] also
    /// by a record that was only loaded. A node for one command compares with the audit log too.
    pub(super) fn time_for_keys(&self, now: i64) -> Result<i64> {
        if self.options.trusts_clock {
            return Ok(now);
        }
        let moment = Moment::now();
        let behind_node = lock(&self.peers).certainly_behind(now, moment);
        match self.agreement(moment) {
            Agreement::WithMajority { latest } => return Ok(now.saturating_add(latest)),
            Agreement::Apart {
                ahead,
                majority,
                nodes,
            } => {
                return Err(Error::ClockApart {
                    ahead,
                    majority,
                    nodes,
                });
            }
            Agreement::Split { ahead, nodes } => {
                return Err(Error::ClocksDisagree { ahead, nodes });
            }
            Agreement::Alone => {}
        }
        let written = self.others().newest().filter(|_| self.options.is_command);
        let behind_log = written.map_or(0, |written| written.saturating_sub(now));
        let (behind, what) = if behind_node >= behind_log {
            (behind_node, "a server that runs")
        } else {
            (behind_log, "the newest entry of the audit log")
        };
        if behind > CLOCK_SKEW_SECONDS {
            return Err(Error::ClockBehind {
                seconds: behind,
                what,
            });
        }
        Ok(now.saturating_add(behind.max(0)))
    }
}
