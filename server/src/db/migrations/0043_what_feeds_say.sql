-- outside a transaction
-- What is believed of a feed that only has a token, and how messages of other senders are read.

alter table bank_accounts
  -- In minor units: the largest payment, and how much in a day, that pushes with a token are believed.
  add column if not exists token_limit bigint not null default 0,
  add column if not exists token_day_limit bigint not null default 0,
  -- JSON: where the fields of a push stand in what the sender writes; null: as the documentation says.
  add column if not exists feed_profile text;
alter table bank_accounts drop constraint if exists bank_accounts_token_limits,
  add constraint bank_accounts_token_limits check (token_limit >= 0 and token_day_limit >= 0) not valid;
alter table bank_accounts validate constraint bank_accounts_token_limits;
alter table bank_accounts drop constraint if exists bank_accounts_feed_profile_check,
  add constraint bank_accounts_feed_profile_check check (length(feed_profile) between 1 and 8192) not valid;
alter table bank_accounts validate constraint bank_accounts_feed_profile_check;

grant update (token_limit, token_day_limit, feed_profile) on bank_accounts to sluice_service;

create index concurrently if not exists bank_reports_of_pushes on bank_reports (account, reported_at)
  where source = 'push' and is_trusted;
