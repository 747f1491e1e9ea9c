-- outside a transaction
-- Payments that people record by hand: one more report, with a picture of the slip that is used once.

alter table bank_reports drop constraint if exists bank_reports_source_check,
  add constraint bank_reports_source_check
    check (source in ('push', 'intraday', 'statement', 'hand')) not valid;
alter table bank_reports validate constraint bank_reports_source_check;
alter table bank_reports drop constraint if exists bank_reports_origin,
  add constraint bank_reports_origin check ((source in ('push', 'hand')) = (file_id is null)) not valid;
alter table bank_reports validate constraint bank_reports_origin;

-- never_booked: only a person reported it, and the bank never did; it is no money.
alter table bank_movements drop constraint if exists bank_movements_explained_by_check,
  add constraint bank_movements_explained_by_check check (explained_by in (
    'payment', 'payment_taken_back', 'payment_returned', 'bank_fee', 'interest', 'own_transfer', 'correction',
    'batch', 'payout', 'payout_returned', 'never_booked')) not valid;
alter table bank_movements validate constraint bank_movements_explained_by_check;

-- Pictures of slips, encrypted. A picture is kept before anybody proposes to believe it.
create table if not exists bank_slips (
  sha256 text primary key check (sha256 ~ '^[0-9a-f]{64}$'),
  type text not null check (type in ('image/jpeg', 'image/png', 'image/webp')),
  picture bytea not null,
  brought_by text not null check (length(brought_by) between 3 and 254),
  brought_at timestamptz not null
);

-- The slip of each payment that was recorded by hand. Its report has the picture's digest as its key.
create table if not exists hand_payments (
  slip text primary key references bank_slips,
  account text not null references bank_accounts,
  -- The letters and digits of the number that the payer's bank put on the slip.
  reference text check (reference ~ '^[0-9A-Z]{4,64}$'),
  recorded_by text not null check (length(recorded_by) between 3 and 254),
  -- Null where one person may record it: in the sandbox, or by policy.
  proposal_id uuid unique references proposal_effects,
  approved_by text check (length(approved_by) between 3 and 254),
  recorded_at timestamptz not null,
  constraint hand_payments_reference unique (reference),
  constraint hand_payments_approved check ((proposal_id is null) = (approved_by is null)),
  constraint hand_payments_two_people check (approved_by <> recorded_by)
);

grant select, insert on bank_slips, hand_payments to sluice_service;
