-- outside a transaction
-- Rows of the journal and of the audit log are chained: each has a hash over the row before it and all that it says.
-- Older processes write rows meanwhile, which get zeros for a hash. They are chained at the end, under a lock that is
-- held for a few of them only; from then on such processes can write no more rows. Everything that takes long comes
-- before that moment.

alter table journal add column if not exists hash text default '0000000000000000000000000000000000000000000000000000000000000000';
-- The hash of the book's last row.
alter table wallets add column if not exists hash text not null
  default '0000000000000000000000000000000000000000000000000000000000000000';
-- The hash of the part's last row; null for parts from before the chain, which goes on from their digest.
alter table archive_parts add column if not exists hash text;
alter table audit_log
  add column if not exists lane smallint,
  add column if not exists lane_seq bigint,
  add column if not exists hash text;

-- The last row of each chain of the audit log. Whoever writes takes any lane that is free, so that nobody waits.
-- Lane 0 has the rows from before.
create table if not exists audit_lanes (
  lane smallint primary key check (lane >= 0),
  seq bigint not null check (seq >= 0),
  hash text not null check (length(hash) = 64)
);
insert into audit_lanes (lane, seq, hash)
  select lane, 0, '0000000000000000000000000000000000000000000000000000000000000000'
  from generate_series(0, 16) lane on conflict do nothing;

grant update (hash) on wallets to sluice_service;
grant select, update (seq, hash) on audit_lanes to sluice_service;

-- A part that is archived meanwhile would begin before the chain does.
do $$ begin
  if not pg_try_advisory_lock(7358404) then
    raise exception 'sluice archive is at work: wait until it has ended';
  end if;
end $$;

create or replace function pg_temp.field(name text, value text) returns text language sql immutable as $$
  select case when value is null then ''
    else name || '=' || octet_length(convert_to(value, 'UTF8')) || ':' || value || e'\n' end
$$;

create or replace function pg_temp.time_text(at timestamptz) returns text language sql stable as $$
  select to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
$$;

create or replace function pg_temp.journal_hash(before text, j journal) returns text language sql stable as $$
  select encode(sha256(convert_to(before || e'\njournal\n' ||
    pg_temp.field('adjustments', nullif(j.adjustments, 0)::text) ||
    pg_temp.field('adjustments_change', nullif(j.adjustments_change, 0)::text) ||
    pg_temp.field('agent_id', nullif(j.agent_id, 0)::text) ||
    pg_temp.field('at', pg_temp.time_text(j.at)) ||
    pg_temp.field('available', nullif(j.available, 0)::text) ||
    pg_temp.field('available_change', nullif(j.available_change, 0)::text) ||
    pg_temp.field('clearing', nullif(j.clearing, 0)::text) ||
    pg_temp.field('clearing_at', j.clearing_at) ||
    pg_temp.field('clearing_change', nullif(j.clearing_change, 0)::text) ||
    pg_temp.field('clearing_there', nullif(j.clearing_there, 0)::text) ||
    pg_temp.field('costs', nullif(j.costs, 0)::text) ||
    pg_temp.field('costs_change', nullif(j.costs_change, 0)::text) ||
    pg_temp.field('currency', j.currency) ||
    pg_temp.field('differences', nullif(j.differences, 0)::text) ||
    pg_temp.field('differences_change', nullif(j.differences_change, 0)::text) ||
    pg_temp.field('event', j.event) ||
    pg_temp.field('fees', nullif(j.fees, 0)::text) ||
    pg_temp.field('fees_change', nullif(j.fees_change, 0)::text) ||
    pg_temp.field('held', nullif(j.held, 0)::text) ||
    pg_temp.field('held_change', nullif(j.held_change, 0)::text) ||
    pg_temp.field('once_key', j.once_key) ||
    pg_temp.field('order_id', replace(j.order_id::text, '-', '')) ||
    pg_temp.field('reason', j.reason) ||
    pg_temp.field('reserve', nullif(j.reserve, 0)::text) ||
    pg_temp.field('reserve_change', nullif(j.reserve_change, 0)::text) ||
    pg_temp.field('seq', nullif(j.seq, 0)::text) ||
    pg_temp.field('suspense', nullif(j.suspense, 0)::text) ||
    pg_temp.field('suspense_change', nullif(j.suspense_change, 0)::text) ||
    pg_temp.field('transfers', nullif(j.transfers, 0)::text) ||
    pg_temp.field('transfers_change', nullif(j.transfers_change, 0)::text), 'UTF8')), 'hex')
$$;

create or replace function pg_temp.audit_hash(before text, a audit_log) returns text language sql stable as $$
  select encode(sha256(convert_to(before || e'\naudit\n' ||
    pg_temp.field('action', a.action) ||
    pg_temp.field('after', a.after::text) ||
    pg_temp.field('agent_id', a.agent_id::text) ||
    pg_temp.field('at', pg_temp.time_text(a.at)) ||
    pg_temp.field('audit_id', replace(a.audit_id::text, '-', '')) ||
    pg_temp.field('before', a.before::text) ||
    pg_temp.field('email', a.email) ||
    pg_temp.field('ip', a.ip) ||
    pg_temp.field('outcome', a.outcome) ||
    pg_temp.field('reason', a.reason) ||
    pg_temp.field('role', a.role) ||
    pg_temp.field('session_id', replace(a.session_id::text, '-', '')) ||
    pg_temp.field('subject_id', a.subject_id) ||
    pg_temp.field('subject_kind', a.subject_kind) ||
    pg_temp.field('user_id', a.user_id::text), 'UTF8')), 'hex')
$$;

-- How far each book is chained; it goes when all are.
create table if not exists chained (
  agent_id bigint primary key,
  seq bigint not null,
  hash text not null
);

-- Where a book was archived, its chain goes on from the digest of the last part, whose last row is in the journal.
insert into chained (agent_id, seq, hash)
  select w.agent_id, coalesce(p.to_seq - 1, 0),
    coalesce(p.sha256, '0000000000000000000000000000000000000000000000000000000000000000')
  from wallets w left join lateral (
    select to_seq, sha256 from archive_parts a where a.agent_id = w.agent_id order by part desc limit 1
  ) p on true
on conflict do nothing;

create index concurrently if not exists audit_log_unchained on audit_log (audit_id) where lane is null;

-- Chains up to so many rows of a book. Returns how many.
create or replace function pg_temp.chain_rows(book bigint, most int) returns int language plpgsql as $$
declare
  at_seq bigint;
  last text;
  row journal;
  seqs bigint[] := '{}';
  hashes text[] := '{}';
begin
  insert into chained (agent_id, seq, hash)
    values (book, 0, '0000000000000000000000000000000000000000000000000000000000000000')
    on conflict do nothing;
  select seq, hash into at_seq, last from chained where agent_id = book;
  for row in select * from journal where agent_id = book and seq > at_seq order by seq limit most loop
    last := pg_temp.journal_hash(last, row);
    seqs := seqs || row.seq;
    hashes := hashes || last;
  end loop;
  if seqs = '{}' then
    return 0;
  end if;
  update journal j set hash = u.hash from unnest(seqs, hashes) u(seq, hash)
  where j.agent_id = book and j.seq = u.seq;
  update chained set seq = seqs[array_length(seqs, 1)], hash = last where agent_id = book;
  return array_length(seqs, 1);
end $$;

-- The same for rows of the audit log, in lane 0, after one of them. Returns the last; null if there are none.
create or replace function pg_temp.chain_audit(behind uuid, most int) returns uuid language plpgsql as $$
declare
  at_seq bigint;
  last text;
  row audit_log;
  done uuid;
begin
  select seq, hash into at_seq, last from audit_lanes where lane = 0;
  for row in select * from audit_log where lane is null and audit_id > behind order by audit_id limit most loop
    last := pg_temp.audit_hash(last, row);
    at_seq := at_seq + 1;
    done := row.audit_id;
    update audit_log set lane = 0, lane_seq = at_seq, hash = last where audit_id = row.audit_id;
  end loop;
  update audit_lanes set seq = at_seq, hash = last where lane = 0;
  return done;
end $$;

-- A page at a time, so that no row is locked for long. Where it was interrupted it goes on.
do $$
declare
  book bigint;
begin
  for book in select agent_id from chained order by agent_id loop
    loop
      exit when pg_temp.chain_rows(book, 1000) < 1000;
      commit;
    end loop;
    commit;
  end loop;
end $$;

-- Rows before the end of an archive are proved by its files; each has the hash of a chain of its own.
do $$
declare
  part record;
  last bigint;
begin
  for part in select agent_id, max(to_seq) as to_seq from archive_parts group by 1 loop
    last := 0;
    loop
      with page as (
        select seq from journal where agent_id = part.agent_id and seq > last and seq < part.to_seq
        order by seq limit 1000
      ), filled as (
        update journal j set hash = pg_temp.journal_hash('0000000000000000000000000000000000000000000000000000000000000000', j)
        from page where j.agent_id = part.agent_id and j.seq = page.seq
      )
      select max(seq) into last from page;
      commit;
      exit when last is null;
    end loop;
  end loop;
end $$;

alter table journal drop constraint if exists journal_chained,
  add constraint journal_chained check (hash is not null and length(hash) = 64) not valid;
alter table journal validate constraint journal_chained;
alter table wallets drop constraint if exists wallets_chained,
  add constraint wallets_chained check (length(hash) = 64) not valid;
alter table wallets validate constraint wallets_chained;
alter table archive_parts drop constraint if exists archive_parts_chained,
  add constraint archive_parts_chained check (length(hash) = 64) not valid;
alter table archive_parts validate constraint archive_parts_chained;
create unique index concurrently if not exists audit_log_of_lane on audit_log (lane, lane_seq);

do $$
declare
  last uuid;
begin
  last := '00000000-0000-0000-0000-000000000000';
  loop
    last := pg_temp.chain_audit(last, 1000);
    commit;
    exit when last is null;
  end loop;
end $$;

-- Each attempt at the locks first chains what was written since, until little is left.
do $$
declare
  book bigint;
  late bigint;
  passes int := 0;
begin
  loop
    late := 0;
    for book in select w.agent_id from wallets w left join chained c using (agent_id)
      where w.seq > coalesce(c.seq, 0) order by 1
    loop
      late := late + pg_temp.chain_rows(book, 1000);
      commit;
    end loop;
    passes := passes + 1;
    exit when late < 200 or passes = 1000;
  end loop;
  -- First what tellers lock first: none holds a wallet then and waits for the journal.
  lock table wallets in exclusive mode;
  lock table journal in access exclusive mode;
  for book in select w.agent_id from wallets w left join chained c using (agent_id)
    where w.seq > coalesce(c.seq, 0) order by 1
  loop
    perform pg_temp.chain_rows(book, 1000000);
  end loop;
  update wallets w set hash = c.hash from chained c
  where c.agent_id = w.agent_id and w.hash <> c.hash and w.seq > 0;
  alter table journal alter column hash drop default;
end $$;

do $$
declare
  last uuid := '00000000-0000-0000-0000-000000000000';
begin
  lock table audit_log in access exclusive mode;
  perform set_config('enable_seqscan', 'off', true);
  perform pg_temp.chain_audit(last, 1000000);
  alter table audit_log drop constraint if exists audit_log_chained,
    add constraint audit_log_chained check (
      lane is not null and lane >= 0 and lane_seq is not null and lane_seq > 0 and hash is not null and length(hash) = 64
    ) not valid;
end $$;
alter table audit_log validate constraint audit_log_chained;

drop index concurrently if exists audit_log_unchained;
drop table if exists chained;
do $$ begin perform pg_advisory_unlock(7358404); end $$;
