-- Tables that only grow, cut by month, and the bodies of callbacks as the first of them. Each has a default
-- partition besides, so that no insert ever fails for want of a month.

-- Makes the partition of a month, unless the month is covered. Answers whether it is now: not where rows of it
-- are in the default partition already, where they stay. The service may make partitions of these tables and
-- of no others, as the schema's owner does.
create function make_month_partition(parent text, month date) returns boolean
language plpgsql security definer set search_path = sluice, pg_temp set timezone = 'UTC' as $$
declare
  first timestamptz := date_trunc('month', month::timestamp);
  next timestamptz := first + interval '1 month';
  child text := parent || to_char(first, '_YYYY_MM');
begin
  if parent not in ('callback_attempts', 'callback_bodies', 'notices') then
    raise exception '% has no months', parent using errcode = 'insufficient_privilege';
  end if;
  if first not between now() - interval '1 year' and now() + interval '2 years' then
    return false;
  end if;
  -- Processes that come at once take turns.
  perform pg_advisory_xact_lock(7358402);
  if exists (
    select from pg_inherits i
    join pg_class c on c.oid = i.inhrelid
    cross join regexp_match(pg_get_expr(c.relpartbound, c.oid), 'FROM \((.+)\) TO \((.+)\)') bounds
    where i.inhparent = parent::regclass
      and (bounds[1] = 'MINVALUE' or trim('''' from bounds[1])::timestamptz <= first)
      and trim('''' from bounds[2])::timestamptz > first
  ) then
    return true;
  end if;
  -- Attaching, unlike creating it in its place, lets everybody go on who reads or writes the others.
  execute format('create table %I (like %I including all)', child, parent);
  execute format('alter table %I attach partition %I for values from (%L) to (%L)',
    parent, child, first, next);
  return true;
exception when check_violation then
  return false;
end $$;

-- Drops the oldest partition that ended before a time, and answers with its name. What the books are proved
-- with is not among these tables, and nothing younger than a month goes, whoever asks.
create function drop_month_partition(parent text, ended_before timestamptz) returns text
language plpgsql security definer set search_path = sluice, pg_temp set timezone = 'UTC' as $$
declare
  child text;
begin
  if parent not in ('notices') then
    raise exception 'no months of % are dropped', parent using errcode = 'insufficient_privilege';
  end if;
  perform pg_advisory_xact_lock(7358402);
  select c.relname into child
  from pg_inherits i
  join pg_class c on c.oid = i.inhrelid
  cross join regexp_match(pg_get_expr(c.relpartbound, c.oid), 'FROM \((.+)\) TO \((.+)\)') bounds
  where i.inhparent = parent::regclass
    and trim('''' from bounds[2])::timestamptz <= least(ended_before, now() - interval '1 month')
  order by trim('''' from bounds[2])::timestamptz limit 1;
  if child is not null then
    execute format('drop table %I', child);
  end if;
  return child;
end $$;

revoke execute on function make_month_partition, drop_month_partition from public;
grant execute on function make_month_partition, drop_month_partition to sluice_service;

-- The bytes of a callback, fixed when the outcome happens: apart from the queue's row, which changes with every
-- attempt. That there is one for each callback is the callback's key; the time leads to the one partition.
create table callback_bodies (
  agent_id bigint not null,
  seq bigint not null,
  created_at timestamptz not null,
  body text not null,
  primary key (agent_id, seq, created_at)
) partition by range (created_at);
create table callback_bodies_default partition of callback_bodies default;

-- Also of tables that are cut by month since before.
select make_month_partition(relname, (now() + n * interval '1 month')::date)
from pg_class, generate_series(0, 3) n
where relnamespace = 'sluice'::regnamespace and relkind = 'p' and relname in ('callback_bodies', 'notices');

-- Those of older outcomes stay where they are.
alter table callbacks alter column body drop not null;

grant select, insert on callback_bodies to sluice_service;
