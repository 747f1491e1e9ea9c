-- Whose each provider's payment is, and what providers report: the notice once, its events beside it.

-- What a provider's payment was first reported for: a key over all agents, which payments cannot have, being
-- kept by agent. Written with the credit, and never removed.
create table payment_claims (
  -- The provider's name and its own id of the payment.
  payment_id text primary key check (length(payment_id) between 3 and 200),
  -- 0 where it is nobody's.
  agent_id bigint not null check (agent_id >= 0),
  -- What it was reported for; a person may credit it elsewhere.
  order_id uuid,
  amount bigint not null check (amount > 0),
  currency text not null check (currency in ('THB', 'VND')),
  claimed_at timestamptz not null,
  constraint payment_claims_nobody check (agent_id > 0 or order_id is null)
);

grant select, insert on payment_claims to sluice_service;
-- Nobody's becomes somebody's.
grant update (agent_id, order_id) on payment_claims to sluice_service;

-- A second report that says something else of a payment waits here under an id of its own.
alter table unmatched_payments
  add column why text not null default 'unmatched',
  -- The payment that it contradicts.
  add column contradicts text,
  drop constraint unmatched_payments_state_check,
  drop constraint unmatched_payments_decided,
  -- dismissed: it was not money.
  add constraint unmatched_payments_state_check
    check (state in ('waiting', 'assigned', 'returned', 'dismissed')) not valid,
  add constraint unmatched_payments_decided check (
    (state = 'waiting') = (decided_at is null)
    and (state = 'assigned') = (assigned_to is not null)
    and (state not in ('returned', 'dismissed') or evidence is not null)
  ) not valid,
  add constraint unmatched_payments_why_check
    check (why in ('unmatched', 'claimed_twice', 'wrong_provider', 'wrong_currency')) not valid,
  add constraint unmatched_payments_contradicts
    check ((why = 'claimed_twice') = (contradicts is not null)) not valid;

-- The events of notices. What came before has its notice's body beside it, and none of its own.
alter table notices rename to notice_events;
alter index notices_of_order rename to notice_events_of_order;
alter table notice_events rename constraint notices_pkey to notice_events_pkey;
alter table notice_events rename constraint notices_agent_id_check to notice_events_agent_id_check;
alter table notice_events rename constraint notices_provider_check to notice_events_provider_check;
alter table notice_events rename constraint notices_event_id_check to notice_events_event_id_check;
alter table notice_events rename constraint notices_body_check to notice_events_body_check;
alter table notice_events rename constraint notices_result_check to notice_events_result_check;
alter table notice_events rename constraint notices_detail_check to notice_events_detail_check;
alter table notice_events
  alter column body drop not null,
  add column notice_id uuid,
  -- As it was understood: what is acted on, for as long as it takes.
  add column event text,
  add column tries integer not null default 0,
  -- When it is acted on again, for as long as it has no result.
  add column act_at timestamptz,
  add constraint notice_events_event_check check (octet_length(event) <= 65536) not valid,
  add constraint notice_events_tries_check check (tries >= 0) not valid,
  add constraint notice_events_open check (act_at is null or (result is null and event is not null))
    not valid;

grant update (tries, act_at) on notice_events to sluice_service;

-- Each notice as it came. Old months go as a whole; what is not in any month is never refused.
create table notices (
  notice_id uuid not null,
  provider text not null check (length(provider) between 2 and 32),
  received_at timestamptz not null,
  body bytea not null check (octet_length(body) <= 65536),
  primary key (notice_id, received_at)
) partition by range (received_at);
create table notices_default partition of notices default;

grant select, insert on notices to sluice_service;
