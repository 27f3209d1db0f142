static inline int in_header(void)
{
    static int calls; /* @in_header::calls */
    return ++calls;
}
