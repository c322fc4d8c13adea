#!/bin/sh
# Makes the files in secrets/ that docker-compose.yml hands to the containers. A file that is there already is kept.
# The folder is its owner's alone. The files are not: in the containers other users read them, and the owner rotates them
# by writing into them, because a running container keeps the file that it was given.
# What the containers mount from the checkout it makes readable, too: under umask 077 it is not.
# Secrets that you have already are taken from variables, such as JWT_SECRET, or from the .env beside the folder.
set -eu
umask 077
cd "$(dirname "$0")/.."
folder=${1:-secrets}
env=$(dirname "$folder")/.env
taken=
mkdir -p "$folder"
chmod 0700 "$folder"
chmod -R a+rX apps/Caddyfile docs/monitoring

random() { od -An -v -tx1 -N"$1" /dev/urandom | tr -d ' \n'; }

# As it may stand in an address.
encode() {
  case $1 in
    *[!A-Za-z0-9._~-]*) printf %s "$1" | od -An -v -tx1 | tr -d ' \n' | sed 's/../%&/g' ;;
    *) printf %s "$1" ;;
  esac
}

fail() {
  echo "$1" >&2
  exit 1
}

keep() {
  file=$folder/$1
  if [ -s "$file" ]; then return; fi
  printf '%s\n' "$2" >"$file"
  chmod 0644 "$file"
  echo "made $file"
}

# Sets `file` and `value`: what the variable is here or in .env, otherwise nothing.
find_secret() {
  file=$(printf %s "$1" | tr 'A-Z_' 'a-z-')
  eval "value=\${$1:-}"
  if [ -z "$value" ] && [ -f "$env" ]; then
    value=$(sed -n "s/^[[:space:]]*\(export[[:space:]]\{1,\}\)\{0,1\}$1[[:space:]]*=[[:space:]]*//p" "$env" |
      sed -n '$s/[[:space:]]*$//p')
    case $value in
      \'*\' | \"*\")
        value=${value#?}
        value=${value%?}
        ;;
      *) value=${value%%[[:space:]]#*} ;;
    esac
    case $value in *[\'\"\\\$[:space:]]*)
      fail "$1 in $env cannot be read here: remove it there, and begin again with $1='…' before the command"
      ;;
    esac
    if [ -n "$value" ]; then taken="$taken $1"; fi
  fi
  if [ "$1" = DATABASE_READ_URL ]; then value=$(with_login_of_api "$value"); fi
  if [ -n "$value" ] && [ -s "$folder/$file" ] && [ "$value" != "$(cat "$folder/$file")" ]; then
    fail "$1 is not what $folder/$file has: find out which of them is in use, and remove the other"
  fi
}

# The file with the address of who owns the database: it may be another one, for a Postgres elsewhere.
find_owner() {
  given=${DATABASE_URL_FILE:-}
  if [ -z "$given" ] && [ -f "$env" ]; then given=$(sed -n 's/^DATABASE_URL_FILE=//p' "$env" | sed -n '$p'); fi
  case $given in
    '') echo "$folder/database-url" ;;
    /*) echo "$given" ;;
    *) echo "$(dirname "$folder")/$given" ;;
  esac
}

# An address of a replica with the owner's login gets that of the API: a replica has the logins of the primary.
with_login_of_api() {
  owner=$(sed 's#.*//\([^:@]*\).*#\1#' "$(find_owner)")
  case $1 in
    *//"$owner"@* | *//"$owner":*@*) printf '%s//%s@%s' "${1%%//*}" "$(sed 's#.*//\(.*\)@.*#\1#' "$folder/database-api-url")" "${1##*@}" ;;
    *) printf %s "$1" ;;
  esac
}

needed() {
  find_secret "$1"
  keep "$file" "${value:-$(random "$2")}"
}

# The containers are told of it where .env has its path.
optional() {
  find_secret "$1"
  if [ -z "$value" ]; then return; fi
  path=./$(basename "$folder")/$file
  keep "$file" "$value"
  if grep -qs "^$1_FILE=" "$env"; then return; fi
  if [ -n "$(tail -c 1 "$env" 2>/dev/null)" ]; then echo >>"$env"; fi
  echo "$1_FILE=$path" >>"$env"
}

needed POSTGRES_PASSWORD 24
keep database-url "postgres://assent:$(encode "$(cat "$folder/postgres-password")")@postgres:5432/assent?sslmode=disable"
# API and worker connect to the same database by logins of their own, which `migrate` makes.
for app in api worker; do
  find_secret "DATABASE_$(printf %s $app | tr a-z A-Z)_URL"
  keep "$file" "${value:-$(sed "s#//.*@#//assent_${app}_login:$(random 24)@#" "$(find_owner)")}"
done
keep redis.conf "requirepass $(random 24)"
keep redis-url "redis://:$(cut -d' ' -f2 "$folder/redis.conf")@redis:6379"
for name in JWT_SECRET LOG_KEY PRIVACY_KEY SECRETS_KEY; do needed "$name" 32; done
for name in JWT_SECRET_PREVIOUS LOG_KEY_PREVIOUS SECRETS_KEY_PREVIOUS PRIVACY_KEY_PREVIOUS IP_HASH_KEY IP_HASH_KEY_PREVIOUS TIMESTAMP_URL DATABASE_READ_URL; do
  optional "$name"
done
for name in REDIS_SENTINEL_PASSWORD OTEL_EXPORTER_OTLP_HEADERS; do optional "$name"; done
# the release before reads them there
if [ -n "$taken" ]; then echo "$folder has them now, so keep a copy of $env for the way back, and remove them from $env:$taken"; fi
