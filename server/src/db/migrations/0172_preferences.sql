-- In which zone and language each user reads the console; null: the service's zone, the browser's language.
alter table users
  add column time_zone text,
  add column language text,
  add constraint users_time_zone_check check (length(time_zone) between 1 and 64),
  add constraint users_language_check check (language ~ '^[a-z]{2}(-[A-Z]{2})?$');
grant update (time_zone, language) on users to sluice_service;
