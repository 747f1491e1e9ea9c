-- outside a transaction
-- A refund is a withdrawal that gives back what a deposit brought in, or a part of it.

alter table orders add column if not exists refund_of uuid;
alter table orders drop constraint if exists orders_refund_of_check,
  add constraint orders_refund_of_check
    check (refund_of is null or (kind = 'withdraw' and refund_of <> order_id)) not valid;
alter table orders validate constraint orders_refund_of_check;

create index concurrently if not exists orders_refunds on orders (agent_id, refund_of)
  where refund_of is not null;

-- A deposit that was taken back after a refund of it had been handed over.
alter table open_items drop constraint if exists open_items_kind_check,
  add constraint open_items_kind_check check (kind in (
    'paid_after_failed', 'paid_twice', 'failed_after_paid', 'refunded_and_taken_back'
  )) not valid;
alter table open_items validate constraint open_items_kind_check;

alter table open_items drop constraint if exists open_items_provider_said_check,
  add constraint open_items_provider_said_check
    check (provider_said in ('PAID', 'REVERT', 'FAILED', 'CANCEL', 'VOID')) not valid;
alter table open_items validate constraint open_items_provider_said_check;
