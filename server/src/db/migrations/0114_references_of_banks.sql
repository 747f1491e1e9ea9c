-- outside a transaction
-- A slip is not believed if its number is that of another movement of a bank: reports are found by the letters and digits
-- of their ids, which stand between quotes.
create index concurrently if not exists bank_reports_by_id on bank_reports using gin
  (string_to_array(regexp_replace(upper(ids), '[^0-9A-Z"]', '', 'g'), '"'));
