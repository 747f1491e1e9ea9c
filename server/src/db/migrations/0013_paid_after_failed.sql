-- outside a transaction

-- A withdrawal that failed and was paid all the same may take available below zero.
alter table journal drop constraint if exists journal_event_check,
  add constraint journal_event_check check (event in (
    'withdraw_held', 'withdraw_paid', 'withdraw_failed', 'withdraw_cancelled', 'withdraw_reverted',
    'withdraw_paid_after_failed', 'deposit_paid', 'deposit_failed', 'deposit_expired',
    'deposit_void', 'deposit_taken_back', 'adjustment'
  )) not valid;
alter table journal validate constraint journal_event_check;

alter table journal drop constraint if exists journal_available_not_negative,
  add constraint journal_available_not_negative check (
    available >= 0 or available_change >= 0
    or event in ('deposit_taken_back', 'withdraw_paid_after_failed', 'adjustment')
  ) not valid;
alter table journal validate constraint journal_available_not_negative;

-- By a person's word alone.
alter table journal drop constraint if exists journal_paid_after_failed_has_reason,
  add constraint journal_paid_after_failed_has_reason check (
    event <> 'withdraw_paid_after_failed' or reason is not null
  ) not valid;
alter table journal validate constraint journal_paid_after_failed_has_reason;

-- Payouts that were said to be paid while their order had failed, before such things were open items.
insert into open_items (agent_id, item_id, kind, order_id, provider, reference, amount, currency,
  provider_said, order_status, order_provider, opened_at)
select p.agent_id, 'paid_after_failed-' || p.reference, 'paid_after_failed', p.order_id, p.provider,
  p.reference, o.amount, a.currency, 'PAID', o.status, o.provider, coalesce(o.completed_at, p.handed_at)
from payouts p join orders o on o.agent_id = p.agent_id and o.order_id = p.order_id
join agents a on a.agent_id = p.agent_id
where p.state = 'paid' and o.status in ('FAILED', 'CANCEL')
on conflict do nothing;

-- What is due at one provider, however much is due at another.
create index concurrently if not exists payouts_due_at_provider on payouts (provider, ask_at)
  where ask_at is not null;
drop index concurrently if exists payouts_due;
