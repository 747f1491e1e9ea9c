-- outside a transaction
-- More currencies. Agents and books name those that there are; everything else is in the currency of its agent or
-- of its book, which the proof sees to, so that a new currency needs no large table to be read again.

alter table agents drop constraint if exists agents_currency_check,
  add constraint agents_currency_check check (currency in (
    'THB', 'VND', 'SGD', 'MYR', 'IDR', 'PHP',
    'INR', 'BRL', 'EUR', 'CHF', 'GBP', 'USD'
  )) not valid;
alter table agents validate constraint agents_currency_check;

alter table wallets drop constraint if exists wallets_book,
  add constraint wallets_book check (
    (agent_id > 0 and currency in (
      'THB', 'VND', 'SGD', 'MYR', 'IDR', 'PHP',
      'INR', 'BRL', 'EUR', 'CHF', 'GBP', 'USD'
    ))
    or (agent_id, currency) in (
      (-1, 'THB'), (-2, 'VND'), (-3, 'SGD'), (-4, 'MYR'),
      (-5, 'IDR'), (-6, 'PHP'), (-7, 'INR'), (-8, 'BRL'),
      (-9, 'EUR'), (-10, 'CHF'), (-11, 'GBP'), (-12, 'USD')
    )
  ) not valid;
alter table wallets validate constraint wallets_book;

insert into wallets (agent_id, currency, seq, available, held, suspense, clearing, fees, costs,
  adjustments, differences, transfers)
select house.book, house.currency, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
from (values
  (-3, 'SGD'), (-4, 'MYR'), (-5, 'IDR'), (-6, 'PHP'), (-7, 'INR'),
  (-8, 'BRL'), (-9, 'EUR'), (-10, 'CHF'), (-11, 'GBP'), (-12, 'USD')
) house (book, currency)
on conflict do nothing;

alter table orders drop constraint if exists orders_currency_check,
  add constraint orders_currency_check check (currency is not null and currency ~ '^[A-Z]{3}$') not valid;
alter table orders validate constraint orders_currency_check;

alter table journal drop constraint if exists journal_currency_check,
  add constraint journal_currency_check check (currency is not null and currency ~ '^[A-Z]{3}$') not valid;
alter table journal validate constraint journal_currency_check;

alter table payment_claims drop constraint if exists payment_claims_currency_check,
  add constraint payment_claims_currency_check check (currency ~ '^[A-Z]{3}$') not valid;
alter table payment_claims validate constraint payment_claims_currency_check;

alter table unmatched_payments drop constraint if exists unmatched_payments_currency_check,
  add constraint unmatched_payments_currency_check check (currency ~ '^[A-Z]{3}$') not valid;
alter table unmatched_payments validate constraint unmatched_payments_currency_check;

alter table open_items drop constraint if exists open_items_currency_check,
  add constraint open_items_currency_check check (currency ~ '^[A-Z]{3}$') not valid;
alter table open_items validate constraint open_items_currency_check;

alter table provider_routes drop constraint if exists provider_routes_currency_check,
  add constraint provider_routes_currency_check check (currency ~ '^[A-Z]{3}$') not valid;
alter table provider_routes validate constraint provider_routes_currency_check;

alter table sandbox_bank.deposits drop constraint if exists deposits_currency_check,
  add constraint deposits_currency_check check (currency ~ '^[A-Z]{3}$') not valid;
alter table sandbox_bank.deposits validate constraint deposits_currency_check;

alter table sandbox_bank.payouts drop constraint if exists payouts_currency_check,
  add constraint payouts_currency_check check (currency ~ '^[A-Z]{3}$') not valid;
alter table sandbox_bank.payouts validate constraint payouts_currency_check;

alter table sandbox_bank.payments drop constraint if exists payments_currency_check,
  add constraint payments_currency_check check (currency ~ '^[A-Z]{3}$') not valid;
alter table sandbox_bank.payments validate constraint payments_currency_check;
