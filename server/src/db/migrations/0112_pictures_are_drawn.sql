-- Processes of the release before answer with what is stored as it is. So pictures are left out of it from a day after
-- this migration, or at once in a database that began with it.
comment on column orders.answer is 'What is answered; of a QR code the encoder that draws it, or the picture itself.';
