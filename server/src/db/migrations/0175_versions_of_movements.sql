-- Whoever is about to decide on a movement has to know whether the bank has said more of it since: a time says so only
-- if no two claims fall into the same millisecond. Each claim, and each new word of the bank, has a version of its own.
alter table bank_movements add column if not exists version int not null default 0;
grant update (version) on bank_movements to sluice_service;
