-- What is left of limits that hold over all processes. Unlogged: it is worth nothing after a crash, when
-- everybody begins anew with a full bucket.
create unlogged table limit_buckets (
  bucket text primary key check (length(bucket) between 1 and 200),
  tokens double precision not null check (tokens >= 0),
  -- What the latest request was given: the answer to whoever has just written the row.
  granted integer not null check (granted >= 0),
  refilled_at timestamptz not null
) with (fillfactor = 50);

grant select, insert, delete on limit_buckets to sluice_service;
grant update (tokens, granted, refilled_at) on limit_buckets to sluice_service;
