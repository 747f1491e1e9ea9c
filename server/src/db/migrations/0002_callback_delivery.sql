-- How callbacks are delivered: the callback's row is the queue's row.

alter table callbacks
  add column kind text not null check (kind in ('deposit', 'withdraw')),
  -- Whether the order had an outcome before this one, which must reach the agent first.
  add column follows boolean not null,
  -- Attempts made since it was last set going.
  add column attempts integer not null check (attempts >= 0),
  add column due_at timestamptz not null,
  -- Times it is to be sent once more after the attempt under way.
  add column again integer not null check (again >= 0),
  add column lease_token uuid,
  add column lease_until timestamptz,
  add column delivered_at timestamptz,
  add constraint callbacks_leased_while_sending check (
    (state = 'sending') = (lease_token is not null) and (state = 'sending') = (lease_until is not null)
  );

create index callbacks_due on callbacks (agent_id, due_at) where state = 'waiting';
-- The few that wait for an earlier outcome of their order.
create index callbacks_following on callbacks (agent_id, created_at)
  where state = 'waiting' and follows;
create index callbacks_sending on callbacks (agent_id, seq) where state = 'sending';
create index callbacks_without_address on callbacks (agent_id, kind) where state = 'no_address';
create index callbacks_given_up on callbacks (agent_id, seq)
  where state in ('exhausted', 'superseded');

-- One lane per agent: how many of its callbacks may be under way at once.
create table callback_lanes (
  agent_id bigint primary key references agents,
  -- Kept back by the operator, and until when it last was.
  paused boolean not null,
  resumed_at timestamptz,
  width integer not null check (width >= 1),
  -- Callbacks that failed since the last one that was accepted, each once, up to as many as count.
  failed_seqs bigint[] not null check (cardinality(failed_seqs) <= 5),
  -- While the lane is probed: when the next single request may go, and how long after that.
  probe_at timestamptz,
  probe_every_s integer check (probe_every_s > 0),
  why text,
  -- Counts the claims: who knows the number knows that nobody else has claimed meanwhile.
  turn bigint not null
);

create table callback_attempts (
  -- No foreign key to callbacks: it would look up and lock the very row that the same statement
  -- changes, for a quarter of what recording costs. Nothing but that statement writes attempts.
  agent_id bigint not null,
  seq bigint not null,
  attempt_id uuid not null,
  started_at timestamptz not null,
  duration_ms integer not null check (duration_ms >= 0),
  url text not null,
  address text,
  status integer,
  response_headers text,
  response_body bytea check (octet_length(response_body) <= 16384),
  error text,
  primary key (agent_id, seq, attempt_id)
);

-- Attempts are only ever appended, so a few bytes a page tell where the old ones are.
create index callback_attempts_by_time on callback_attempts using brin (started_at);

grant insert, update on callback_lanes to sluice_service;
grant select, insert, delete on callback_attempts to sluice_service;
grant select on callback_lanes to sluice_service;
grant update (state, attempts, due_at, again, lease_token, lease_until, delivered_at)
  on callbacks to sluice_service;
