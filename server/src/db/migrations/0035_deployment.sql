-- What this database is for, written once by the first start. A sandbox's balances are made up: no live service may
-- ever take them for money.
create table if not exists deployment (
  only_one boolean primary key check (only_one),
  mode text not null check (mode in ('sandbox', 'live')),
  taken_at timestamptz not null
);
grant select, insert on deployment to sluice_service;
