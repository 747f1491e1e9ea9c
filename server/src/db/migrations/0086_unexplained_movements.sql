-- outside a transaction
-- What nothing explains is few, and every page of the console counts it.
create index concurrently if not exists bank_movements_unexplained on bank_movements (booked_on, movement_id)
  where state = 'unexplained';
