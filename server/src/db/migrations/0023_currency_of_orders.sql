-- outside a transaction
-- What an order and a journal row are in: the agent's currency, written down with each of them.

alter table orders add column if not exists currency text;
alter table journal add column if not exists currency text;

-- A page at a time, so that no row is locked for long. Where it was interrupted it reads on from the start, past
-- what has its currency.
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
    update orders o set currency = a.currency from agents a
    where a.agent_id = o.agent_id and o.currency is null
      and (o.agent_id, o.order_id) > (last_agent, last_order)
      and (o.agent_id, o.order_id) <= (end_agent, end_order);
    last_agent := end_agent;
    last_order := end_order;
    commit;
  end loop;
end $$;

do $$
declare
  last_agent bigint := 0;
  last_seq bigint := 0;
  end_agent bigint;
  end_seq bigint;
begin
  loop
    select agent_id, seq into end_agent, end_seq from (
      select agent_id, seq from journal where (agent_id, seq) > (last_agent, last_seq)
      order by agent_id, seq limit 1000
    ) page order by agent_id desc, seq desc limit 1;
    exit when not found;
    update journal j set currency = a.currency from agents a
    where a.agent_id = j.agent_id and j.currency is null
      and (j.agent_id, j.seq) > (last_agent, last_seq)
      and (j.agent_id, j.seq) <= (end_agent, end_seq);
    last_agent := end_agent;
    last_seq := end_seq;
    commit;
  end loop;
end $$;

-- What processes of older versions have written meanwhile: it gets its currency in the moment from which on
-- there is no row without, and is found by indexes of that alone.
create index concurrently if not exists orders_without_currency on orders (agent_id, order_id)
  where currency is null;
create index concurrently if not exists journal_without_currency on journal (agent_id, seq)
  where currency is null;

-- Again for those, so that few are left for the moment of the lock.
do $$
declare
  filled bigint;
begin
  perform set_config('enable_seqscan', 'off', false);
  loop
    update orders o set currency = a.currency from agents a
    where a.agent_id = o.agent_id and o.currency is null and (o.agent_id, o.order_id) in (
      select agent_id, order_id from orders where currency is null order by agent_id, order_id limit 1000
    );
    get diagnostics filled = row_count;
    commit;
    exit when filled < 1000;
  end loop;
  loop
    update journal j set currency = a.currency from agents a
    where a.agent_id = j.agent_id and j.currency is null and (j.agent_id, j.seq) in (
      select agent_id, seq from journal where currency is null order by agent_id, seq limit 1000
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
  update orders o set currency = a.currency from agents a
  where a.agent_id = o.agent_id and o.currency is null;
  alter table orders drop constraint if exists orders_currency_check,
    add constraint orders_currency_check
      check (currency is not null and currency in ('THB', 'VND')) not valid;
end $$;
alter table orders validate constraint orders_currency_check;

do $$ begin
  lock table journal in access exclusive mode;
  perform set_config('enable_seqscan', 'off', true);
  update journal j set currency = a.currency from agents a
  where a.agent_id = j.agent_id and j.currency is null;
  alter table journal drop constraint if exists journal_currency_check,
    add constraint journal_currency_check
      check (currency is not null and currency in ('THB', 'VND')) not valid;
end $$;
alter table journal validate constraint journal_currency_check;

drop index concurrently if exists orders_without_currency;
drop index concurrently if exists journal_without_currency;
