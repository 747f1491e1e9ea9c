#!/bin/sh
# Makes the owner's and the service's logins in a new database server; see docs/operate.md.
set -e
psql -v ON_ERROR_STOP=1 \
  -v owner="$(cat /run/secrets/owner.password)" -v login="$(cat /run/secrets/login.password)" <<'SQL'
create role sluice_owner login createrole password :'owner';
create role sluice_login login password :'login';
create database sluice owner sluice_owner;
grant pg_read_all_stats to sluice_login;
SQL
