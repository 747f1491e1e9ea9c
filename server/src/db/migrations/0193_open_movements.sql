-- outside a transaction
-- What the bank says of one of two equal payments may tell whose the other one is: every report that joins a movement asks
-- for those of its amount that are not decided for good. They are few, however many an account has.
create index concurrently if not exists bank_movements_open on bank_movements (account, amount, booked_on)
  where state in ('new', 'matched') or (state = 'booked' and order_id is null and why = 'ambiguous');
