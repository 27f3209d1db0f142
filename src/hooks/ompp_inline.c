/*
 * Hooks that count where they stand, for clang. The build runs this through the C preprocessor (memory-hooks.c);
 * kinst-ompp --memory has the user's clang make bitcode of it, which it links into what it has made of a source before
 * it optimises once more.
 */
#define OMPP_INLINED
#include "hooks/ompp_hooks_hot.c"

#include "hooks/ompp_atomic_hot.c"
