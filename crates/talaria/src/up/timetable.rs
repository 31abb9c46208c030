//! What happens at a time, from the server's words to the gateway's.

use talaria_domain::adapter::Pending;
use talaria_domain::ids::ScheduleId;
use talaria_domain::schedule::Schedule;
use talaria_gateway::schedule::{Change, Settled};
use talaria_server::timetable::{Deed, NotPlanned, Timetable, Wanted};

use super::desk::Desk;

impl Timetable for Desk {
    fn create(&self, wanted: Wanted) -> Pending<'_, Result<Schedule, NotPlanned>> {
        Box::pin(async move {
            let refused = |reason: String| NotPlanned::Refused { reason };
            let to = self.address(&wanted.to).map_err(refused)?;
            let plans = self.0.schedules();
            let created = plans.create(&to, &wanted.requester, wanted.order).await;
            settled(created)
        })
    }

    fn change(&self, id: ScheduleId, deed: Deed) -> Pending<'_, Result<Schedule, NotPlanned>> {
        let change = match deed {
            Deed::Pause => Change::Pause,
            Deed::Resume => Change::Resume,
            Deed::Remove => Change::Remove,
            Deed::Run => Change::Run,
        };
        Box::pin(async move { settled(self.0.schedules().change(id, change).await) })
    }
}

fn settled(done: talaria_store::Result<Settled>) -> Result<Schedule, NotPlanned> {
    match done {
        Ok(Settled::Done(schedule)) => Ok(*schedule),
        Ok(Settled::NotFound) => Err(NotPlanned::NotFound {
            reason: "there is no such schedule: `talaria schedule list` shows them".to_owned(),
        }),
        Ok(Settled::Refused(reason)) => Err(NotPlanned::Refused { reason }),
        Err(error) => Err(NotPlanned::Retry {
            reason: error.to_string(),
        }),
    }
}
