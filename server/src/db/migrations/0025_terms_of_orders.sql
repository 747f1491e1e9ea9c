-- outside a transaction
-- What is decided about an order's money later is decided by terms that are fixed when it is created: for a
-- deposit what becomes of late or other money, for a withdrawal what becomes of the fee if it comes back.

alter table orders add column if not exists late_money text;
alter table orders add column if not exists revert_fee text;

-- Earlier orders get the terms that their agent has now, unless their rows show others: a withdrawal that came
-- back has returned or kept its fee, and a payment that waits as late or of another amount waits for review.
-- A page at a time, so that no row is locked for long. Where it was interrupted it reads on from the start, past
-- what has its terms.
do $$
declare
  last_agent bigint := 0;
  last_order uuid := '00000000-0000-0000-0000-000000000000';
  end_agent bigint;
  end_order uuid;
begin
  loop
    select agent_id, order_id into end_agent, end_order from (
      select agent_id, order_id from orders where (agent_id, order_id) > (last_agent, last_order)
      order by agent_id, order_id limit 1000
    ) page order by agent_id desc, order_id desc limit 1;
    exit when not found;
    update orders o set
      late_money = case when o.kind = 'deposit' then coalesce((
        select 'review' from payments p
        where p.agent_id = o.agent_id and p.order_id = o.order_id and p.state = 'waiting'
          and p.why in ('late', 'wrong_amount') limit 1), a.late_money) end,
      revert_fee = case when o.kind = 'withdraw' then coalesce((
        select case when j.fees_change = 0 then 'keep' else 'return' end from journal j
        where o.status = 'REVERT' and o.fee > 0 and j.agent_id = o.agent_id and j.order_id = o.order_id
          and j.event = 'withdraw_reverted'), a.revert_fee) end
    from agents a
    where a.agent_id = o.agent_id and o.late_money is null and o.revert_fee is null
      and (o.agent_id, o.order_id) > (last_agent, last_order)
      and (o.agent_id, o.order_id) <= (end_agent, end_order);
    last_agent := end_agent;
    last_order := end_order;
    commit;
  end loop;
end $$;

-- What processes of older versions have written meanwhile: it gets its terms in the moment from which on there
-- is no order without, and is found by an index of that alone.
create index concurrently if not exists orders_without_terms on orders (agent_id, order_id)
  where late_money is null and revert_fee is null;

-- Again for those, so that few are left for the moment of the lock.
do $$
declare
  filled bigint;
begin
  perform set_config('enable_seqscan', 'off', false);
  loop
    update orders o set
      late_money = case when o.kind = 'deposit' then coalesce((
        select 'review' from payments p
        where p.agent_id = o.agent_id and p.order_id = o.order_id and p.state = 'waiting'
          and p.why in ('late', 'wrong_amount') limit 1), a.late_money) end,
      revert_fee = case when o.kind = 'withdraw' then coalesce((
        select case when j.fees_change = 0 then 'keep' else 'return' end from journal j
        where o.status = 'REVERT' and o.fee > 0 and j.agent_id = o.agent_id and j.order_id = o.order_id
          and j.event = 'withdraw_reverted'), a.revert_fee) end
    from agents a
    where a.agent_id = o.agent_id and o.late_money is null and o.revert_fee is null
      and (o.agent_id, o.order_id) in (
        select agent_id, order_id from orders where late_money is null and revert_fee is null
        order by agent_id, order_id limit 1000
      );
    get diagnostics filled = row_count;
    commit;
    exit when filled < 1000;
  end loop;
  perform set_config('enable_seqscan', 'on', false);
end $$;

do $$ begin
  lock table orders in access exclusive mode;
  perform set_config('enable_seqscan', 'off', true);
  update orders o set
    late_money = case when o.kind = 'deposit' then coalesce((
      select 'review' from payments p
      where p.agent_id = o.agent_id and p.order_id = o.order_id and p.state = 'waiting'
        and p.why in ('late', 'wrong_amount') limit 1), a.late_money) end,
    revert_fee = case when o.kind = 'withdraw' then coalesce((
      select case when j.fees_change = 0 then 'keep' else 'return' end from journal j
      where o.status = 'REVERT' and o.fee > 0 and j.agent_id = o.agent_id and j.order_id = o.order_id
        and j.event = 'withdraw_reverted'), a.revert_fee) end
  from agents a
  where a.agent_id = o.agent_id and o.late_money is null and o.revert_fee is null;
  alter table orders drop constraint if exists orders_late_money_check,
    add constraint orders_late_money_check
      check ((kind = 'deposit') = (late_money is not null) and late_money in ('review', 'credit')) not valid,
    drop constraint if exists orders_revert_fee_check,
    add constraint orders_revert_fee_check
      check ((kind = 'withdraw') = (revert_fee is not null) and revert_fee in ('return', 'keep')) not valid;
end $$;
alter table orders validate constraint orders_late_money_check;
alter table orders validate constraint orders_revert_fee_check;

drop index concurrently if exists orders_without_terms;
