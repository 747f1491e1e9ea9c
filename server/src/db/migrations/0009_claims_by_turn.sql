-- A claim is a turn of the lane, with all that was claimed in it: one row for a batch instead of one for
-- each callback. The turn is its key, so that no turn is taken twice, and it tells an old result from a new one.

-- What was under way goes out again: a process that reports on it holds no claim any more.
drop table callback_claims;

create table callback_claims (
  agent_id bigint not null,
  turn bigint not null,
  -- The process that sends them.
  sender uuid not null,
  seqs bigint[] not null check (cardinality(seqs) > 0),
  lease_until timestamptz not null,
  primary key (agent_id, turn)
);

-- Who looks at what is under way holds it still meanwhile: that too takes the right to update.
grant select, insert, update (seqs), delete on callback_claims to sluice_service;
