-- Which page of a statement a file has: its balances may be on two pages, and its entries on all.
alter table bank_statements add column if not exists page integer;
