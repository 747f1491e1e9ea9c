-- outside a transaction
-- The code that a payment company knows a deposit by; null if it knows it by our id.
alter table connector_deposits add column if not exists code text;
alter table connector_deposits drop constraint if exists connector_deposits_code_check,
  add constraint connector_deposits_code_check check (code ~ '^DX[0-9A-HJKMNP-TV-Z]{11}$') not valid;
alter table connector_deposits validate constraint connector_deposits_code_check;
