-- What each payout is known by at its provider: a code of 13 characters, which fits every bank's field.

-- A key over all agents, which payouts cannot have, being kept by agent. Written with the payout, and kept when
-- its order is archived: a bank may name it years later. Payouts that were handed over before have a reference
-- that names agent, order and attempt, and need no row.
create table payout_references (
  reference text primary key check (length(reference) between 1 and 100),
  agent_id bigint not null check (agent_id > 0),
  order_id uuid not null,
  attempt integer not null check (attempt between 1 and 100)
);

grant select, insert on payout_references to sluice_service;
