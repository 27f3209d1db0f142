/*
 * One of each constructor, all of six integers; included with and without large counts. SUFFIX: the function; COUNT, PLACE: of numbers and
 * of displacements; MADE: our names, of which MADE(types) is the list.
 */
#ifndef INTS
#define INTS 6
#endif

static void MADE(contiguous)(MPI_Datatype *type) { SUFFIX(MPI_Type_contiguous)(INTS, MPI_INT, type); }

static void MADE(vector)(MPI_Datatype *type) { SUFFIX(MPI_Type_vector)(3, 2, 4, MPI_INT, type); }

static void MADE(hvector)(MPI_Datatype *type) { SUFFIX(MPI_Type_create_hvector)(3, 2, 4 * sizeof(int), MPI_INT, type); }

static void MADE(indexed)(MPI_Datatype *type)
{
    SUFFIX(MPI_Type_indexed)(2, (COUNT[]){2, 4}, (COUNT[]){0, 5}, MPI_INT, type);
}

static void MADE(hindexed)(MPI_Datatype *type)
{
    SUFFIX(MPI_Type_create_hindexed)(2, (COUNT[]){2, 4}, (PLACE[]){0, 5 * sizeof(int)}, MPI_INT, type);
}

static void MADE(indexed_block)(MPI_Datatype *type)
{
    SUFFIX(MPI_Type_create_indexed_block)(3, 2, (COUNT[]){0, 3, 6}, MPI_INT, type);
}

static void MADE(hindexed_block)(MPI_Datatype *type)
{
    SUFFIX(MPI_Type_create_hindexed_block)(3, 2, (PLACE[]){0, 12, 24}, MPI_INT, type);
}

static void MADE(structure)(MPI_Datatype *type)
{
    SUFFIX(MPI_Type_create_struct)(2, (COUNT[]){2, 4}, (PLACE[]){0, 16}, (MPI_Datatype[]){MPI_INT, MPI_INT}, type);
}

static void MADE(subarray)(MPI_Datatype *type)
{
    SUFFIX(MPI_Type_create_subarray)(2, (COUNT[]){4, 4}, (COUNT[]){2, 3}, (COUNT[]){1, 1}, MPI_ORDER_C, MPI_INT, type);
}

static void MADE(darray)(MPI_Datatype *type)
{
    const int block = MPI_DISTRIBUTE_BLOCK, none = MPI_DISTRIBUTE_DFLT_DARG;

    SUFFIX(MPI_Type_create_darray)(1, 0, 1, (COUNT[]){INTS}, (int[]){block}, (int[]){none}, (int[]){1}, MPI_ORDER_C,
                                   MPI_INT, type);
}

static void MADE(resized)(MPI_Datatype *type)
{
    MPI_Datatype inner;

    SUFFIX(MPI_Type_contiguous)(INTS, MPI_INT, &inner);
    SUFFIX(MPI_Type_create_resized)(inner, 0, 8 * sizeof(int), type);
    MPI_Type_free(&inner);
}

static void MADE(duplicate)(MPI_Datatype *type)
{
    MPI_Datatype inner;

    SUFFIX(MPI_Type_contiguous)(INTS, MPI_INT, &inner);
    MPI_Type_dup(inner, type);
    MPI_Type_free(&inner);
}

/* Of a type of the same constructors. */
static void MADE(nested)(MPI_Datatype *type)
{
    MPI_Datatype pair;

    SUFFIX(MPI_Type_vector)(2, 1, 2, MPI_INT, &pair);
    SUFFIX(MPI_Type_contiguous)(3, pair, type);
    MPI_Type_free(&pair);
}

static void (*const MADE(types)[])(MPI_Datatype *) = {
    MADE(contiguous), MADE(vector), MADE(hvector), MADE(indexed), MADE(hindexed), MADE(indexed_block),
    MADE(hindexed_block), MADE(structure), MADE(subarray), MADE(darray), MADE(resized), MADE(duplicate), MADE(nested),
};
