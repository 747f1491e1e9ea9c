-- What of a bank's answer fits no payment of its file, or was about a file that never left here: it is shown with the
-- answer for as long as the answer is kept.

alter table payout_file_reports
  -- A list, as JSON.
  add column if not exists breaks text not null default '[]';
alter table payout_file_reports drop constraint if exists payout_file_reports_breaks_check,
  add constraint payout_file_reports_breaks_check check (length(breaks) between 2 and 20000) not valid;
alter table payout_file_reports validate constraint payout_file_reports_breaks_check;
