-- Where a payer goes back to from an agent's payment page.

alter table agents add column if not exists return_url text
  constraint agents_return_url_check check (return_url ~ '^https?://' and length(return_url) <= 2000);
grant update (return_url) on agents to sluice_service;
