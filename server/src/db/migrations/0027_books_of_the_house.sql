-- outside a transaction
-- The books of the house, money that waits for a decision, and clearing by provider.

alter table wallets
  add column if not exists currency text,
  add column if not exists suspense bigint not null default 0,
  add column if not exists costs bigint not null default 0,
  add column if not exists differences bigint not null default 0,
  add column if not exists transfers bigint not null default 0;

alter table journal
  add column if not exists suspense_change bigint not null default 0,
  add column if not exists costs_change bigint not null default 0,
  add column if not exists differences_change bigint not null default 0,
  add column if not exists transfers_change bigint not null default 0,
  add column if not exists suspense bigint not null default 0,
  add column if not exists costs bigint not null default 0,
  add column if not exists differences bigint not null default 0,
  add column if not exists transfers bigint not null default 0,
  -- The provider that the changed part of clearing is at, and the book's clearing there after the row.
  add column if not exists clearing_at text,
  add column if not exists clearing_there bigint;

-- The journal row that took the payment in, and the one that gave it back; 0 for payments from before.
alter table payments
  add column if not exists received_seq bigint not null default 0,
  add column if not exists returned_seq bigint;
alter table unmatched_payments
  add column if not exists received_seq bigint not null default 0,
  add column if not exists decided_seq bigint;

-- What of a book's clearing is at each provider, as of its last row there.
create table if not exists clearings (
  agent_id bigint not null references wallets,
  provider text not null check (length(provider) between 1 and 200),
  seq bigint not null check (seq >= 0),
  balance bigint not null,
  primary key (agent_id, provider)
);
-- It changes with every batch, as wallets do.
alter table clearings set (fillfactor = 20, autovacuum_vacuum_threshold = 500,
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_cost_delay = 0);
grant select, insert, update (seq, balance) on clearings to sluice_service;

-- Closing balances of an archived part, with its clearing by provider; older parts know it only in all.
alter table archive_parts
  add column if not exists suspense bigint not null default 0,
  add column if not exists costs bigint not null default 0,
  add column if not exists differences bigint not null default 0,
  add column if not exists transfers bigint not null default 0,
  add column if not exists clearings text;
alter table archive_parts drop constraint if exists archive_parts_balance,
  add constraint archive_parts_balance check (
    available + held + suspense + clearing + fees + costs + adjustments + differences + transfers = 0
  ) not valid;
alter table archive_parts validate constraint archive_parts_balance;

alter table journal drop constraint if exists journal_event_check,
  add constraint journal_event_check check (event in (
    'withdraw_held', 'withdraw_paid', 'withdraw_failed', 'withdraw_cancelled', 'withdraw_reverted',
    'withdraw_paid_after_failed', 'deposit_paid', 'deposit_failed', 'deposit_expired',
    'deposit_void', 'deposit_taken_back', 'cost_charged', 'adjustment', 'payment_received',
    'payment_returned', 'payment_dismissed', 'payment_assigned', 'payment_reclassified', 'swept',
    'written_off'
  )) not valid;
alter table journal validate constraint journal_event_check;

alter table journal drop constraint if exists journal_order_or_adjustment,
  drop constraint if exists journal_of_order_or_book,
  add constraint journal_of_order_or_book check (
    (order_id is null) = (event in ('adjustment', 'payment_received', 'payment_returned',
      'payment_dismissed', 'payment_assigned', 'payment_reclassified', 'swept', 'written_off'))
  ) not valid;
alter table journal validate constraint journal_of_order_or_book;

-- Names the provider of some rows of an agent's journal and adds up what is there, in order of seq. Returns how
-- many rows it has named. What is in `clearings` is where it goes on.
create or replace function fill_clearings(of_agent bigint, at_most integer) returns bigint
language plpgsql set search_path from current as $$
declare
  filled bigint;
begin
  with page as materialized (
    select j.seq, j.clearing_change as moved, coalesce(nullif(case j.event
        when 'deposit_paid' then split_part(substr(j.once_key, 9), ':', 1)
        when 'payment_reclassified' then split_part(substr(j.once_key, 22), ':', 1)
        when 'deposit_taken_back' then (
          select split_part(substr(p.once_key, 9), ':', 1) from journal p
          where p.agent_id = j.agent_id and p.order_id = j.order_id and p.event = 'deposit_paid'
            and p.seq < j.seq order by p.seq desc limit 1)
        else (select o.provider from orders o
          where o.agent_id = j.agent_id and o.order_id = j.order_id)
      end, ''), '(unknown)') as provider
    from journal j
    where j.agent_id = of_agent and j.clearing_change <> 0
      and j.seq > coalesce((select max(c.seq) from clearings c where c.agent_id = of_agent), 0)
    order by j.seq limit at_most
  ), summed as materialized (
    select p.seq, p.provider, (coalesce(c.balance, 0)
      + sum(p.moved) over (partition by p.provider order by p.seq))::bigint as there
    from page p left join clearings c on c.agent_id = of_agent and c.provider = p.provider
  ), named as (
    update journal j set clearing_at = s.provider, clearing_there = s.there from summed s
    where j.agent_id = of_agent and j.seq = s.seq
  ), kept as (
    insert into clearings (agent_id, provider, seq, balance)
    select distinct on (provider) of_agent, provider, seq, there from summed order by provider, seq desc
    on conflict (agent_id, provider) do update set seq = excluded.seq, balance = excluded.balance
  )
  select count(*) into filled from page;
  return filled;
end $$;

-- A page at a time, so that no row is locked for long.
do $$
declare
  book bigint;
begin
  for book in select agent_id from wallets where agent_id > 0 order by agent_id loop
    while fill_clearings(book, 1000) > 0 loop
      commit;
    end loop;
    commit;
  end loop;
end $$;

create index concurrently if not exists journal_clearing on journal (agent_id, clearing_at, seq)
  where clearing_at is not null;
create index concurrently if not exists payments_to_wallets on payments (agent_id, payment_id)
  where state = 'credited' and credited_to = 'wallet';
create index concurrently if not exists payments_returned on payments (agent_id, payment_id)
  where state = 'returned' and returned_seq is null;
do $$
declare
  filled bigint;
begin
  loop
    update payments p set returned_seq = 0 from (
      select agent_id, payment_id from payments where state = 'returned' and returned_seq is null limit 1000
    ) page where p.agent_id = page.agent_id and p.payment_id = page.payment_id;
    get diagnostics filled = row_count;
    commit;
    exit when filled = 0;
  end loop;
end $$;

-- From here on processes of older versions can write neither journal rows nor payments.
do $$
declare
  book bigint;
begin
  lock table wallets, journal, payments, unmatched_payments, payment_claims in access exclusive mode;

  for book in select agent_id from wallets where agent_id > 0 loop
    while fill_clearings(book, 1000) > 0 loop null; end loop;
  end loop;
  -- What was archived before cannot be told apart by provider any more: only its sum is known.
  insert into clearings (agent_id, provider, seq, balance)
  select w.agent_id, '(archived)', 0, w.clearing - coalesce(sum(c.balance), 0)
  from wallets w left join clearings c using (agent_id)
  where exists (select 1 from archive_parts p where p.agent_id = w.agent_id)
  group by w.agent_id having w.clearing <> coalesce(sum(c.balance), 0)
  on conflict do nothing;

  update wallets w set currency = a.currency from agents a
  where a.agent_id = w.agent_id and w.currency is null;
  alter table wallets
    alter column currency set not null,
    alter column suspense drop default,
    alter column costs drop default,
    alter column differences drop default,
    alter column transfers drop default,
    -- A book of the house belongs to no agent; the proof finds one that belongs to an agent that is not there.
    drop constraint if exists wallets_agent_id_fkey,
    drop constraint if exists wallets_book,
    add constraint wallets_book check (
      (agent_id > 0 and currency in ('THB', 'VND'))
      or (agent_id = -1 and currency = 'THB') or (agent_id = -2 and currency = 'VND')
    ),
    drop constraint if exists wallets_balance,
    add constraint wallets_balance check (
      available + held + suspense + clearing + fees + costs + adjustments + differences + transfers
        = 0
    ),
    drop constraint if exists wallets_bound,
    add constraint wallets_bound check (
      greatest(abs(available), abs(held)) <= 9007199254740991
      and greatest(abs(suspense), abs(clearing), abs(fees), abs(costs), abs(adjustments),
        abs(differences), abs(transfers)) <= 576460752303423488
    ),
    drop constraint if exists wallets_of_house,
    add constraint wallets_of_house check (agent_id < 0 or differences = 0),
    drop constraint if exists wallets_suspense_not_negative,
    add constraint wallets_suspense_not_negative check (suspense >= 0);
  insert into wallets (agent_id, currency, seq, available, held, suspense, clearing, fees, costs,
    adjustments, differences, transfers)
  values (-1, 'THB', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0), (-2, 'VND', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
  on conflict do nothing;

  alter table journal
    alter column suspense_change drop default,
    alter column costs_change drop default,
    alter column differences_change drop default,
    alter column transfers_change drop default,
    alter column suspense drop default,
    alter column costs drop default,
    alter column differences drop default,
    alter column transfers drop default,
    drop constraint if exists journal_legs_balance,
    add constraint journal_legs_balance check (
      available_change + held_change + suspense_change + clearing_change + fees_change + costs_change
        + adjustments_change + differences_change + transfers_change = 0
    ) not valid,
    drop constraint if exists journal_balances_balance,
    add constraint journal_balances_balance check (
      available + held + suspense + clearing + fees + costs + adjustments + differences + transfers
        = 0
    ) not valid,
    drop constraint if exists journal_bound,
    add constraint journal_bound check (
      greatest(abs(available), abs(held)) <= 9007199254740991
      and greatest(abs(suspense), abs(clearing), abs(fees), abs(costs), abs(adjustments),
        abs(differences), abs(transfers)) <= 576460752303423488
    ) not valid,
    drop constraint if exists journal_suspense_not_negative,
    add constraint journal_suspense_not_negative check (suspense >= 0) not valid,
    drop constraint if exists journal_clearing_at,
    add constraint journal_clearing_at check (
      (clearing_change = 0) = (clearing_at is null)
      and (clearing_at is null) = (clearing_there is null)
      and length(clearing_at) between 1 and 200
    ) not valid,
    drop constraint if exists journal_once,
    add constraint journal_once check (
      event not in ('deposit_paid', 'cost_charged', 'adjustment', 'payment_received',
        'payment_returned', 'payment_dismissed', 'payment_assigned', 'payment_reclassified', 'swept',
        'written_off')
      or once_key is not null
    ) not valid,
    drop constraint if exists journal_adjustment_has_reason,
    drop constraint if exists journal_has_reason,
    add constraint journal_has_reason check (
      event not in ('adjustment', 'written_off') or reason is not null
    ) not valid;

  -- No book can hold this.
  update payments set state = 'returned', why = null, evidence = 'This is not an amount.'
  where state = 'waiting' and amount > 9007199254740991;
  update payments set returned_seq = 0 where state = 'returned' and returned_seq is null;
  alter table payments
    alter column received_seq drop default,
    drop constraint if exists payments_returned_by_row,
    add constraint payments_returned_by_row check (
      (state = 'returned') = (returned_seq is not null)
    ) not valid;

  -- A payment that was assigned to an agent but not yet recorded with it is nobody's again.
  update payment_claims c set agent_id = 0, order_id = null from unmatched_payments u
  where c.payment_id = u.payment_id and u.state = 'assigned' and not exists (
      select 1 from payments p where p.agent_id = u.assigned_to and p.payment_id = u.payment_id)
    and not exists (select 1 from archived_keys k
      where k.agent_id = u.assigned_to and k.once_key = 'payment:' || u.payment_id);
  update unmatched_payments u set state = 'waiting', assigned_to = null, decided_at = null
  from payment_claims c where c.payment_id = u.payment_id and c.agent_id = 0 and u.state = 'assigned';
  update unmatched_payments set state = 'dismissed', evidence = 'This is not an amount.',
    decided_at = reported_at
  where state = 'waiting' and amount > 9007199254740991;
  update unmatched_payments set decided_seq = 0 where state <> 'waiting' and decided_seq is null;
  alter table unmatched_payments
    alter column received_seq drop default,
    drop constraint if exists unmatched_payments_decided_by_row,
    add constraint unmatched_payments_decided_by_row check (
      (state = 'waiting') = (decided_seq is null)
    );

  -- What waits is in suspense from now on; what was credited to wallets came from providers.
  create temp table appended on commit drop as
  with moved as (
    select p.agent_id, 'payment_received' as event, p.payment_id, p.amount
    from payments p where p.state = 'waiting' and p.received_seq = 0
    union all
    select p.agent_id, 'payment_reclassified', p.payment_id, p.amount
    from payments p where p.state = 'credited' and p.credited_to = 'wallet' and p.received_seq = 0
    union all
    select case u.currency when 'THB' then -1 else -2 end, 'payment_received', u.payment_id, u.amount
    from unmatched_payments u where u.state = 'waiting' and u.received_seq = 0
  ), at_provider as (
    select m.*, split_part(m.payment_id, ':', 1) as provider,
      case m.event when 'payment_received' then m.amount else 0 end as suspense_change,
      case m.event when 'payment_received' then 0 else m.amount end as adjustments_change
    from moved m
  )
  select p.*, w.currency, w.available, w.held, w.fees, w.costs, w.differences, w.transfers,
    w.seq + row_number() over book as seq,
    (w.suspense + sum(p.suspense_change) over book)::bigint as suspense,
    (w.adjustments + sum(p.adjustments_change) over book)::bigint as adjustments,
    (w.clearing - sum(p.amount) over book)::bigint as clearing,
    (coalesce(c.balance, 0) - sum(p.amount) over there)::bigint as clearing_there
  from at_provider p join wallets w using (agent_id)
  left join clearings c using (agent_id, provider)
  window book as (partition by p.agent_id order by p.payment_id),
    there as (partition by p.agent_id, p.provider order by p.payment_id);

  insert into journal (agent_id, seq, event, at, currency, available_change, held_change,
    suspense_change, clearing_change, fees_change, costs_change, adjustments_change,
    differences_change, transfers_change, available, held, suspense, clearing, fees, costs,
    adjustments, differences, transfers, clearing_at, clearing_there, once_key)
  select agent_id, seq, event, date_trunc('milliseconds', clock_timestamp()), currency, 0, 0, suspense_change,
    -amount, 0, 0, adjustments_change, 0, 0, available, held, suspense, clearing, fees, costs,
    adjustments, differences, transfers, provider, clearing_there, event || ':' || payment_id
  from appended;
  insert into clearings (agent_id, provider, seq, balance)
  select distinct on (agent_id, provider) agent_id, provider, seq, clearing_there from appended
  order by agent_id, provider, seq desc
  on conflict (agent_id, provider) do update set seq = excluded.seq, balance = excluded.balance;
  update wallets w set seq = a.seq, suspense = a.suspense, clearing = a.clearing,
    adjustments = a.adjustments
  from (select distinct on (agent_id) * from appended order by agent_id, seq desc) a
  where w.agent_id = a.agent_id;
  update payments p set received_seq = a.seq from appended a
  where p.agent_id = a.agent_id and p.payment_id = a.payment_id;
  update unmatched_payments u set received_seq = a.seq from appended a
  where a.agent_id < 0 and u.payment_id = a.payment_id;
end $$;

alter table journal validate constraint journal_legs_balance;
alter table journal validate constraint journal_balances_balance;
alter table journal validate constraint journal_bound;
alter table journal validate constraint journal_suspense_not_negative;
alter table journal validate constraint journal_clearing_at;
alter table journal validate constraint journal_once;
alter table journal validate constraint journal_has_reason;

drop function if exists fill_clearings(bigint, integer);
drop index concurrently if exists payments_to_wallets;
drop index concurrently if exists payments_returned;
alter table payments validate constraint payments_returned_by_row;

grant update (suspense, costs, differences, transfers) on wallets to sluice_service;
grant update (returned_seq) on payments to sluice_service;
grant update (decided_seq) on unmatched_payments to sluice_service;
