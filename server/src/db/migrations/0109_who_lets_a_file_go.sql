-- outside a transaction
-- Two people look at every file. Where it is about money, what nobody signed in to make is not let go by nobody either:
-- one person with a shell and a login would be both. And who says that the bank has a file is not who downloaded it
-- under another login.

create unique index concurrently if not exists deployment_by_mode on deployment (mode);
alter table payout_file_downloads
  -- What the database is for, as the deployment says.
  add column if not exists mode text;
alter table payout_file_downloads drop constraint if exists payout_file_downloads_mode,
  add constraint payout_file_downloads_mode foreign key (mode) references deployment (mode) not valid;
alter table payout_file_downloads validate constraint payout_file_downloads_mode;
-- Of what was let go before, nothing is said any more.
alter table payout_file_downloads drop constraint if exists payout_file_downloads_signed_in,
  add constraint payout_file_downloads_signed_in check (
    made_by <> 0 or downloaded_by <> 0 or coalesce(mode, '') = 'sandbox') not valid;

create unique index concurrently if not exists payout_file_downloads_tied
  on payout_file_downloads (account, file_id, n, round, downloaded_by, reset_by);
alter table payout_file_sendings
  -- Who had reset who downloaded it first, and so could be them; null: it is not known.
  add column if not exists downloader_reset_by bigint;
alter table payout_file_sendings drop constraint if exists payout_file_sendings_of_downloader,
  add constraint payout_file_sendings_of_downloader
    foreign key (account, file_id, first, round, downloaded_by, downloader_reset_by)
    references payout_file_downloads (account, file_id, n, round, downloaded_by, reset_by) not valid;
alter table payout_file_sendings validate constraint payout_file_sendings_of_downloader;
alter table payout_file_sendings drop constraint if exists payout_file_sendings_untied,
  add constraint payout_file_sendings_untied check (sent_by = 0 or downloaded_by = 0 or (
    reset_by is not null and reset_by <> downloaded_by and sent_by <> coalesce(downloader_reset_by, 0)
    and (reset_by = 0 or reset_by <> coalesce(downloader_reset_by, 0)))) not valid;
