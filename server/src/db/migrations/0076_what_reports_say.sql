-- Whether a report says that money goes back. All reports of a movement count, not only the first; null for those
-- that were taken before this was kept.
alter table bank_reports add column if not exists is_return boolean;
