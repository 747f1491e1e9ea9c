-- Stops of payouts, and maybe of deposits: for one agent, or for everything.
create table stops (
  -- 0: everything.
  agent_id bigint primary key check (agent_id >= 0),
  -- Who starts again names the stop that they lift.
  stop_id uuid not null,
  deposits boolean not null,
  stopped_at timestamptz not null,
  stopped_by text not null check (length(stopped_by) between 3 and 254),
  reason text not null check (length(reason) between 3 and 500)
);

grant select, insert, delete on stops to sluice_service;
grant update (stop_id, deposits, stopped_at, stopped_by, reason) on stops to sluice_service;
