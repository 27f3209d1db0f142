#!/bin/sh
# What other versions of mpi.h declare: an argument that is constant itself (MPI_Session_c2f of Open MPI 5).
dir=$abs_top_srcdir/src/mpi-wrap
printf '%s\n' 'int MPI_Session_c2f(const MPI_Session session);' 'int PMPI_Session_c2f(const MPI_Session session);' \
    'int MPI_Get_address(const void *location, MPI_Aint *address);' 'int PMPI_Get_address(const void *location, MPI_Aint *address);' |
    ${AWK:-awk} -f "$dir/mpi_gen.awk" -f "$dir/mpi_gen_f.awk" "$dir/mpi_calls.def" "$dir/mpi_rules.def" "$dir/mpi_wrap.c.in" - >made.$$ ||
    exit 1
grep -q 'int MPI_Session_c2f(MPI_Session session)' made.$$ && grep -q 'int MPI_Get_address(const void \*location, MPI_Aint \*address)' made.$$
status=$?
[ $status = 0 ] || grep -n 'MPI_Session_c2f\|MPI_Get_address' made.$$
rm -f made.$$
exit $status
