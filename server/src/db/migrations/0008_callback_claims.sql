-- A claim is a row of its own: to claim and to let go of a callback writes a few bytes instead of the
-- whole callback twice, and the key keeps it from being claimed by two.

create table callback_claims (
  agent_id bigint not null,
  seq bigint not null,
  token uuid not null,
  lease_until timestamptz not null,
  primary key (agent_id, seq)
);

-- What was under way goes out again: a process that reports on it holds no claim any more.
update callbacks set state = 'waiting' where state = 'sending';

drop index callbacks_sending;
alter table callbacks
  drop constraint callbacks_leased_while_sending,
  drop column lease_token,
  drop column lease_until,
  drop constraint callbacks_state_check,
  add constraint callbacks_state_check check (
    state in ('waiting', 'delivered', 'exhausted', 'no_address', 'superseded')
  );

-- Who looks at what is under way holds it still meanwhile: that takes the right to update.
grant select, insert, update (lease_until), delete on callback_claims to sluice_service;
