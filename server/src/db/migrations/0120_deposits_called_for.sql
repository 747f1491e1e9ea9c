-- outside a transaction
-- How many requests have called a company for a deposit, or are about to: only the one that is alone may take it elsewhere.

alter table connector_deposits add column if not exists calls integer not null default 1;
alter table connector_deposits drop constraint if exists connector_deposits_calls_check,
  add constraint connector_deposits_calls_check check (calls > 0) not valid;
alter table connector_deposits validate constraint connector_deposits_calls_check;

grant update (calls) on connector_deposits to sluice_service;
