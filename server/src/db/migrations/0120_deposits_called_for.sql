-- How many requests have called a company for a deposit, or are about to: only the one that is alone may take it elsewhere.

alter table connector_deposits
  add column calls integer not null default 1 check (calls > 0);

grant update (calls) on connector_deposits to sluice_service;
