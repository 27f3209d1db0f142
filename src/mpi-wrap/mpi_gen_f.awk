# The Fortran part of mpi_gen.awk, used with -v fortran=1.
#
# mpi_fortran.def  what Fortran has and mpi.h does not, as C prototypes
# SYMBOLS          lines "symbol NAME": functions that MPI's Fortran libraries define; "library SONAME": those libraries
#
# A Fortran binding has the arguments of the C function, each by its address, then ierror (of what is an int function in C), then
# the lengths of the arguments of type character, by value. A binding is wrapped when MPI's libraries define it:
#
#   mpi_x_         mpif.h and use mpi; with other names for it, as other compilers spell it: mpi_x, mpi_x__, MPI_X
#   mpi_x_f08_     use mpi_f08
#   mpi_x_f08ts_   use mpi_f08; choice buffers come as descriptors (C: CFI_cdesc_t)
#   ...large_      the same with large counts; C: MPI_X_c

# Base type of a C parameter without const, * and [].
function base_type(decl,   s) {
    s = decl
    gsub(/\[[^\]]*\]|\*|const /, " ", s)
    sub(/ *[A-Za-z0-9_]+ *$/, "", s)
    return trim(s)
}

function is_handle(type) { return type ~ /^MPI_(Comm|Datatype|Errhandler|File|Group|Info|Message|Op|Request|Session|Win)$/ }

# How a Fortran binding declares a C parameter of this type.
function fortran_type(type) {
    if (type == "int" || is_handle(type)) return "MPI_Fint"
    if (type ~ /^MPI_(Aint|Count|Offset)$/ || type == "char") return type
    return "void"
}

# Turns the C parameters 1..n into Fortran's. Returns their number.
function fortran_parameters(name, n,   i, m) {
    m = n
    if (ret[name] == "int") { pname[++m] = "ierror"; pdecl[m] = "MPI_Fint *ierror" }
    for (i = 1; i <= n; i++)
        if (base_type(pdecl[i]) == "char") { pname[++m] = "ompp_length" i; pdecl[m] = "size_t ompp_length" i }
    for (i = 1; i <= n; i++) pdecl[i] = fortran_type(base_type(pdecl[i])) " *" pname[i]
    return m
}

# The C value of an argument.
function fortran_value(role,   type, handle) {
    type = base_type(role_decl[role])
    if (type == "void") return "ompp_mpi_" (binding ~ /ts/ ? "described" : "buffer") "_f(" role_param[role] ")"
    if (is_handle(type)) {
        handle = substr(type, 5)
        return "PMPI_" (handle == "Datatype" ? "Type" : handle) "_f2c(*" role_param[role] ")"
    }
    return "*" role_param[role]
}

# The bindings of a call that are there, into bindings[1..n]: plain or f08... Returns n.
function bindings_of(name,   n, low) {
    low = tolower(name); n = 0
    if ((low "_") in has_symbol) { bindings[++n] = low "_"; binding_form[n] = "" }
    if ((low "_f08_") in has_symbol) { bindings[++n] = low "_f08_"; binding_form[n] = "f08" }
    if ((low "_f08ts_") in has_symbol) { bindings[++n] = low "_f08ts_"; binding_form[n] = "f08ts" }
    if (sub(/_c$/, "", low)) {
        if ((low "_f08_large_") in has_symbol) { bindings[++n] = low "_f08_large_"; binding_form[n] = "f08" }
        if ((low "_f08ts_large_") in has_symbol) { bindings[++n] = low "_f08ts_large_"; binding_form[n] = "f08ts" }
    }
    return n
}

# Other spellings of mpi_x_ that are there, into spellings[1..n]. Returns n.
function spellings_of(name,   n, low) {
    low = tolower(name); n = 0
    if (!((low "_") in has_symbol)) return 0
    if (low in has_symbol) spellings[++n] = low
    if ((low "__") in has_symbol) spellings[++n] = low "__"
    if (toupper(name) in has_symbol) spellings[++n] = toupper(name)
    return n
}

function fortran_each(part, name,   i, n) {
    n = bindings_of(name)
    for (i = 1; i <= n; i++) {
        if (part == "//@names") print "    \"" bindings[i] "\","
        if (part == "//@calls") expand(name, bindings[i], binding_form[i])
    }
    n = spellings_of(name)
    for (i = 1; i <= n; i++) {
        if (part == "//@names") print "    \"" spellings[i] "\","
        if (part == "//@calls") print "OMPP_MPI_SPELLING(" spellings[i] ", " tolower(name) "_);"
    }
}

function fortran_libraries(   i) { for (i = 1; i <= nlibraries; i++) print "    \"" libraries[i] "\"," }
