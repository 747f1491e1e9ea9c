-- Whose each id is that companies give payouts: a key over all agents, which payouts cannot have, being kept by agent.

create table payout_ids (
  provider text not null check (length(provider) between 2 and 32),
  their_id text not null check (length(their_id) between 1 and 128),
  agent_id bigint not null check (agent_id > 0),
  order_id uuid not null,
  attempt integer not null check (attempt > 0),
  primary key (their_id, provider)
);

-- Of two payouts with one id nobody can say whose it is: the first that is found keeps it.
insert into payout_ids (provider, their_id, agent_id, order_id, attempt)
select provider, their_id, agent_id, order_id, attempt from payouts where their_id is not null
order by handed_at on conflict do nothing;

grant select, insert on payout_ids to sluice_service;
