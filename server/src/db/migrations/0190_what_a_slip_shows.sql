-- outside a transaction
-- A digest of what a picture shows, which stays the same if it is saved again with other notes in it.
alter table bank_slips add column if not exists content text check (content ~ '^[0-9a-f]{64}$');
create index concurrently if not exists bank_slips_content on bank_slips (content);
