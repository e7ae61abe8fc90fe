#!/bin/sh
# Run once, when the cluster of docker-compose.yml is made: a login for Grafana that sees the answers and nothing else.
set -eu
psql -v ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" -v password="$GRAFANA_READER_PASSWORD" <<'SQL'
create role wynnsync_reader nologin;
create role grafana login password :'password' in role wynnsync_reader;
SQL
