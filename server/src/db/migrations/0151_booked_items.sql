-- outside a transaction
-- How the money was booked that an open item is about: with the item, in one transaction. Null if nothing was, or if an
-- earlier release booked it.
alter table open_items add column if not exists booked_as text;
alter table open_items drop constraint if exists open_items_booked_check,
  add constraint open_items_booked_check check (
    booked_as is null
    or (booked_as in ('write_off', 'charge_agent', 'received_back')
      and kind in ('paid_after_failed', 'paid_twice'))
  ) not valid;
alter table open_items validate constraint open_items_booked_check;
grant update (booked_as) on open_items to sluice_service;
