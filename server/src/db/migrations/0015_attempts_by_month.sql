-- outside a transaction
-- Attempts at callbacks, cut by month; and what the steps for new addresses look at.

-- The kinds of callback, deposit and withdraw, of which none waits for an address that is there.
alter table callback_lanes add column if not exists addressed text[] not null default '{}';
create index concurrently if not exists callbacks_of_kind_without_address
  on callbacks (agent_id, kind, seq) where state = 'no_address';

-- Which attempts are the latest of their callback is looked at once for each month that has ended: how far that is.
create table if not exists attempt_prunings (
  -- When the month ended.
  until timestamptz primary key,
  -- The last attempt that was looked at.
  agent_id bigint not null,
  seq bigint not null,
  attempt_id uuid not null,
  is_done boolean not null
);
grant select, insert, update on attempt_prunings to sluice_service;

-- The table of attempts becomes the first partition of the new one, as it is and without being read while it is
-- locked: what that needs is built before, while everybody goes on.
create unique index concurrently if not exists callback_attempts_by_start
  on callback_attempts (agent_id, seq, attempt_id, started_at);

do $$ begin
  if (select relkind = 'r' from pg_class where oid = 'callback_attempts'::regclass) then
    alter table callback_attempts drop constraint if exists callback_attempts_until;
    execute format('alter table callback_attempts add constraint callback_attempts_until '
      'check (started_at < %L) not valid',
      (date_trunc('month', now() at time zone 'UTC') + interval '2 months') at time zone 'UTC');
  end if;
end $$;

do $$ begin
  if (select relkind = 'r' from pg_class where oid = 'callback_attempts'::regclass) then
    alter table callback_attempts validate constraint callback_attempts_until;
  end if;
end $$;

do $$ begin
  if (select relkind = 'p' from pg_class where oid = 'callback_attempts'::regclass) then
    return;
  end if;
  alter table callback_attempts drop constraint callback_attempts_pkey;
  alter table callback_attempts
    add constraint callback_attempts_by_start primary key using index callback_attempts_by_start;
  drop index callback_attempts_by_time;
  alter table callback_attempts rename to callback_attempts_before;
  revoke all on callback_attempts_before from sluice_service;
  create table callback_attempts (
    -- No foreign key to callbacks: it would look up and lock the very row that the same statement changes.
    agent_id bigint not null,
    seq bigint not null,
    attempt_id uuid not null,
    started_at timestamptz not null,
    duration_ms integer not null
      constraint callback_attempts_duration_ms_check check (duration_ms >= 0),
    url text not null,
    address text,
    status integer,
    response_headers text,
    response_body bytea
      constraint callback_attempts_response_body_check check (octet_length(response_body) <= 16384),
    error text,
    primary key (agent_id, seq, attempt_id, started_at)
  ) partition by range (started_at);
  execute format('alter table callback_attempts attach partition callback_attempts_before '
    'for values from (minvalue) to (%L)',
    (date_trunc('month', now() at time zone 'UTC') + interval '2 months') at time zone 'UTC');
  alter table callback_attempts_before drop constraint callback_attempts_until;
  create table callback_attempts_default partition of callback_attempts default;
  grant select, insert, delete on callback_attempts to sluice_service;
end $$;

select make_month_partition('callback_attempts', (now() + n * interval '1 month')::date)
from generate_series(0, 3) n;
