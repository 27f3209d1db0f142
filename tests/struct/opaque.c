/* What no compiler of the others knows. */
int opaque(int x);

int opaque(int x) { return x & 1; }
