-- When a stretch of a book was last proved again: books take turns at that, whatever is new in them.
alter table proofs add column again_at timestamptz;
