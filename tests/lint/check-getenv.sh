#!/bin/sh
# The environment is read in one file.
. "$(dirname "$0")/common.sh"

for file in $(sources src tools include); do
    [ "$file" = src/base/ompp_env.c ] && continue
    found=$(grep -nE '\b(secure_)?getenv[[:space:]]*\(' "$src/$file") &&
        complain "$file: getenv belongs to src/base/ompp_env.c: $found"
done
exit $status
