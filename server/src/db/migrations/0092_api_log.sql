-- Requests of agents as they came, for some days: what was asked and answered. Cut by day, so that forgetting them is
-- dropping a table. Nothing is decided by it.

create table api_requests (
  agent_id bigint not null,
  at timestamptz not null,
  request_id text not null check (length(request_id) between 1 and 100),
  method text not null check (length(method) between 1 and 20),
  path text not null check (length(path) between 1 and 500),
  status integer not null check (status between 100 and 599),
  -- The problem that it was answered with.
  code text check (length(code) <= 100),
  duration_ms integer not null check (duration_ms >= 0),
  ip text not null check (length(ip) <= 100),
  -- With accounts and names masked; null if there was none, or none that could be masked.
  body text check (octet_length(body) <= 8192),
  -- How many requests that were answered well came before and are not here.
  left_out integer not null check (left_out >= 0),
  primary key (agent_id, at, request_id)
) partition by range (at);
create table api_requests_default partition of api_requests default;

grant select, insert on api_requests to sluice_service;

-- Makes the partition of a day, unless it is there or rows of it are in the default partition already.
create function make_log_day(day date) returns boolean
language plpgsql security definer set search_path = sluice, pg_temp set timezone = 'UTC' as $$
declare
  child text := 'api_requests' || to_char(day, '_YYYY_MM_DD');
begin
  if day not between current_date - 1 and current_date + 30 then
    return false;
  end if;
  perform pg_advisory_xact_lock(7358402);
  if to_regclass(child) is not null then
    return true;
  end if;
  execute format('create table %I (like api_requests including all)', child);
  execute format('alter table api_requests attach partition %I for values from (%L) to (%L)',
    child, day::timestamp, day::timestamp + interval '1 day');
  return true;
exception when check_violation then
  return false;
end $$;

-- Drops the oldest day that ended before a time, and answers with its name. Nothing younger than a day goes. What came
-- to the default partition because its day was missing goes row by row.
create function drop_log_day(ended_before timestamptz) returns text
language plpgsql security definer set search_path = sluice, pg_temp set timezone = 'UTC' as $$
declare
  child text;
  safely timestamptz := least(ended_before, now() - interval '1 day');
begin
  perform pg_advisory_xact_lock(7358402);
  delete from api_requests_default where at < safely;
  select c.relname into child
  from pg_inherits i join pg_class c on c.oid = i.inhrelid
  where i.inhparent = 'api_requests'::regclass and c.relname ~ '^api_requests_\d{4}_\d\d_\d\d$'
    and to_date(right(c.relname, 10), 'YYYY_MM_DD')::timestamp + interval '1 day' <= safely
  order by c.relname limit 1;
  if child is not null then
    execute format('drop table %I', child);
  end if;
  return child;
end $$;

revoke execute on function make_log_day, drop_log_day from public;
grant execute on function make_log_day, drop_log_day to sluice_service;

select make_log_day((now() + n * interval '1 day')::date) from generate_series(0, 3) n;
