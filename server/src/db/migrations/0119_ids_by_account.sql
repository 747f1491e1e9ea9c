-- outside a transaction
-- A company may count the payouts of each of its accounts from 1: an id is one of an account, not of the company.
alter table payout_ids
  -- Since which use of the connector the account has been used; 0 if that is not known.
  add column if not exists same_since integer not null default 0;
alter table payout_ids drop constraint if exists payout_ids_same_since_check,
  add constraint payout_ids_same_since_check check (same_since >= 0) not valid;
alter table payout_ids validate constraint payout_ids_same_since_check;

update payout_ids i set same_since = u.same_since
from payouts p join connector_uses u on u.connector = p.provider and u.n = p.use
where i.same_since = 0 and i.agent_id = p.agent_id and i.order_id = p.order_id and i.attempt = p.attempt
  and i.provider = p.provider;

create unique index concurrently if not exists payout_ids_by_account
  on payout_ids (their_id, provider, same_since);
alter table payout_ids drop constraint if exists payout_ids_pkey,
  add constraint payout_ids_pkey primary key using index payout_ids_by_account;
