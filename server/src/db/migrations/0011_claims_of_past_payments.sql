-- outside a transaction
-- Claims of the payments that came before there were claims, and what else reads large tables.

alter table unmatched_payments validate constraint unmatched_payments_state_check;
alter table unmatched_payments validate constraint unmatched_payments_decided;
alter table unmatched_payments validate constraint unmatched_payments_why_check;
alter table unmatched_payments validate constraint unmatched_payments_contradicts;
alter table notice_events validate constraint notice_events_event_check;
alter table notice_events validate constraint notice_events_tries_check;
alter table notice_events validate constraint notice_events_open;

create index concurrently if not exists notice_events_due on notice_events (act_at)
  where act_at is not null;
create index concurrently if not exists unmatched_payments_contradicting
  on unmatched_payments (contradicts) where contradicts is not null;

-- The first report wins. A page at a time, so that no snapshot lasts; again from the start is no harm.
do $$
declare
  last_agent bigint := 0;
  last_payment text := '';
  end_agent bigint;
  end_payment text;
begin
  loop
    select agent_id, payment_id into end_agent, end_payment from (
      select agent_id, payment_id from payments
      where (agent_id, payment_id) > (last_agent, last_payment)
      order by agent_id, payment_id limit 5000
    ) page order by agent_id desc, payment_id desc limit 1;
    exit when not found;
    insert into payment_claims (payment_id, agent_id, order_id, amount, currency, claimed_at)
    select distinct on (p.payment_id) p.payment_id, p.agent_id, p.order_id, p.amount, a.currency,
      p.reported_at
    from payments p join agents a using (agent_id)
    where (p.agent_id, p.payment_id) > (last_agent, last_payment)
      and (p.agent_id, p.payment_id) <= (end_agent, end_payment)
    order by p.payment_id, p.reported_at, p.agent_id
    on conflict (payment_id) do update set agent_id = excluded.agent_id,
      order_id = excluded.order_id, amount = excluded.amount, currency = excluded.currency,
      claimed_at = excluded.claimed_at
      where excluded.claimed_at < payment_claims.claimed_at;
    last_agent := end_agent;
    last_payment := end_payment;
    commit;
  end loop;
end $$;

insert into payment_claims (payment_id, agent_id, order_id, amount, currency, claimed_at)
select payment_id, coalesce(assigned_to, 0), null, amount, currency, reported_at from unmatched_payments
on conflict (payment_id) do update set agent_id = excluded.agent_id, order_id = excluded.order_id,
  amount = excluded.amount, currency = excluded.currency, claimed_at = excluded.claimed_at
  where excluded.claimed_at < payment_claims.claimed_at
    and excluded.agent_id <> payment_claims.agent_id;

-- A payment is found by its claim.
drop index concurrently if exists payments_by_id;
