/* Types of every constructor, with large counts where MPI has them, for types.F90: as handles of Fortran. */
#include <mpi.h>

#if MPI_VERSION >= 4
#define SUFFIX(name) name##_c
#define COUNT MPI_Count
#define PLACE MPI_Count
#else
#define SUFFIX(name) name
#define COUNT int
#define PLACE MPI_Aint
#endif
#define MADE(n) made_##n
#include "../mpi/objects_types.h"

void make_types_(MPI_Fint *handles, MPI_Fint *number)
{
    *number = (MPI_Fint)(sizeof made_types / sizeof *made_types);
    for (int i = 0; i < *number; i++) {
        MPI_Datatype type;
        made_types[i](&type);
        MPI_Type_commit(&type);
        handles[i] = MPI_Type_c2f(type);
    }
}
