-- A restored database is noticed by what is kept outside of it, and held until two people let it go.

-- How far each process has come: it keeps the same number outside, once this is committed.
create table witness_marks (
  witness_id uuid primary key,
  turn bigint not null check (turn > 0),
  marked_at timestamptz not null
);
grant select, insert, delete on witness_marks to sluice_service;
grant update (turn, marked_at) on witness_marks to sluice_service;

-- Nothing is paid out while one of these is not released.
create table restore_holds (
  restore_id uuid primary key references restores,
  -- What agents tell events of a number apart by: before the restore it named another.
  epoch bigint not null unique check (epoch > 0),
  found text not null check (length(found) between 3 and 1000),
  -- When all providers had been asked about what waits.
  asked_at timestamptz
);
grant select, insert on restore_holds to sluice_service;
grant update (asked_at) on restore_holds to sluice_service;

-- What is not the same here and elsewhere, as far as anybody can be asked.
create table restore_differences (
  restore_id uuid not null references restore_holds,
  subject text not null check (length(subject) between 3 and 200),
  words text not null check (length(words) between 3 and 1000),
  found_at timestamptz not null,
  primary key (restore_id, subject)
);
grant select, insert on restore_differences to sluice_service;

create table restore_releases (
  restore_id uuid primary key references restore_holds,
  released_by bigint not null check (released_by > 0),
  releaser text not null check (length(releaser) between 3 and 254),
  evidence text not null check (length(evidence) between 3 and 500),
  released_at timestamptz not null
);
grant select, insert on restore_releases to sluice_service;

-- From which event of an agent on an epoch counts.
create table event_epochs (
  agent_id bigint not null,
  epoch bigint not null check (epoch > 0),
  after_seq bigint not null check (after_seq >= 0),
  primary key (agent_id, epoch)
);
grant select, insert on event_epochs to sluice_service;
