#!/bin/sh
# Makes the files in secrets/ that docker-compose.yml hands to the containers. A file that is there already is kept.
# The folder is its owner's alone. The files are not: in the containers other users read them.
# Secrets that you have already are taken from variables, such as POSTGRES_PASSWORD and JWT_SECRET.
set -eu
umask 077
cd "$(dirname "$0")/.."
folder=${1:-secrets}
mkdir -p "$folder"
chmod 0700 "$folder"

random() { od -An -v -tx1 -N"$1" /dev/urandom | tr -d ' \n'; }

keep() {
  file=$folder/$1
  if [ -s "$file" ]; then return; fi
  printf '%s\n' "$2" >"$file"
  chmod 0444 "$file"
  echo "made $file"
}

keep postgres-password "${POSTGRES_PASSWORD:-$(random 24)}"
keep database-url "postgres://assent:$(cat "$folder/postgres-password")@postgres:5432/assent?sslmode=disable"
keep redis.conf "requirepass $(random 24)"
keep redis-url "redis://:$(cut -d' ' -f2 "$folder/redis.conf")@redis:6379"
keep jwt-secret "${JWT_SECRET:-$(random 32)}"
keep log-key "${LOG_KEY:-$(random 32)}"
keep privacy-key "${PRIVACY_KEY:-$(random 32)}"
keep secrets-key "${SECRETS_KEY:-$(random 32)}"
