#!/bin/sh
# docs/environment.md is what the table says.
"$abs_top_builddir/ompp-config" --env-markdown | diff - "$abs_top_srcdir/docs/environment.md" ||
    { echo "regenerate: ompp-config --env-markdown > docs/environment.md"; exit 1; }
