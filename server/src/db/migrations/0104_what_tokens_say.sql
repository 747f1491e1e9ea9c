-- How much of what companies tell with a token, and without a signature, was believed on a day.

create table connector_token_days (
  connector text not null references connectors,
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  -- By UTC.
  day date not null,
  believed bigint not null check (believed > 0),
  primary key (connector, currency, day)
);

grant select, insert on connector_token_days to sluice_service;
grant update (believed) on connector_token_days to sluice_service;
