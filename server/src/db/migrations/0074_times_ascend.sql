-- From the release of this migration on, the teller sees to it. The proof asks when the migration was applied.

comment on column journal.at is 'Never before the last row of the book, nor of the other book of a move.';
