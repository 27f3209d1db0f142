# Makes the wrappers of every MPI function that the installed mpi.h declares: those of C, and, with mpi_gen_f.awk, of Fortran.
#
#   awk -f mpi_gen.awk -f mpi_gen_f.awk mpi_calls.def mpi_rules.def mpi_wrap.c.in PREPROCESSED \
#       > mpi_wrap_hot.c
#   awk -v fortran=1 -f mpi_gen.awk -f mpi_gen_f.awk mpi_calls.def mpi_rules.def mpi_wrap_f.c.in mpi_fortran.def \
#       PREPROCESSED SYMBOLS > mpi_wrap_f_hot.c
#
# mpi_calls.def  what to count for a call (see there); mpi_rules.def: its classes and rules
# mpi_wrap.c.in  readable C: text between "//@template T" and "//@end" is repeated at "//@calls" for every call of template T;
#                other text after "//@calls" is explanation and not copied. What stands between "//@if X" and "//@fi", or before "//@if X"
#                on a line, is left out of calls that have no X, which is a role or what given() says.
# PREPROCESSED   mpi.h after the C preprocessor
# mpi_fortran.def, SYMBOLS: see mpi_gen_f.awk
#
# A function is wrapped when the header declares both MPI_x and PMPI_x, so nothing has to be tested by configure.
# Only POSIX awk is used.

function fail(message) { print "mpi_gen.awk: " message > "/dev/stderr"; failed = 1; exit 1 }

FNR == 1 { file++ }

BEGIN {
    nvalues = split("peer tag source recvtag root number win group asked", by_value, " ")
    naddresses = split("requests status flag index indices outcount made", by_address, " ")
}

# ---- mpi_calls.def
file == 1 && (/^[ \t]*#/ || NF == 0) { next }
file == 1 {
    if (NF < 2) fail(FILENAME ":" FNR ": a row needs a name and a class")
    nrows++
    row_name[nrows] = $1; row_class[nrows] = $2; row_rule[nrows] = ""; row_roles[nrows] = ""
    if (!($1 in row_of)) row_of[$1] = nrows
    if ($2 != "skip" && $2 != "hand" && NF > 2) {
        row_rule[nrows] = $3
        for (i = 4; i <= NF; i++) row_roles[nrows] = row_roles[nrows] (i > 4 ? " " : "") $i
    }
    next
}

# ---- mpi_rules.def
file == 2 && (/^[ \t]*#/ || NF == 0) { next }
file == 2 && $1 == "rule" { # NAME role, role, ...
    name = $2; sub(/^rule [^ ]+ */, ""); rule_args[name] = $0; next
}
file == 2 && $1 == "order" { order_of[$2] = $3; next } # RULE KIND
file == 2 && $1 == "even" { is_even[$2] = 1; next } # RULE
file == 2 && $1 == "suppressed" { # NAME role, role, ...
    name = $2; sub(/^suppressed [^ ]+ */, ""); suppressed_args[name] = $0; next
}
file == 2 && $1 == "pair" { # CLASS NAME role, role, ...
    class = $2; pair_name[class] = $3; sub(/^pair +[^ ]+ +[^ ]+ */, ""); pair_args[class] = $0; next
}
file == 2 { # class NAME template sends recvs colls before after suppressed words
    if ($1 != "class" || NF < 9) fail(FILENAME ":" FNR ": neither a class nor a rule")
    class_template[$2] = $3; class_sends[$2] = $4; class_recvs[$2] = $5; class_colls[$2] = $6
    class_before[$2] = $7; class_after[$2] = $8; class_suppressed[$2] = $9
    for (i = 10; i <= NF; i++) class_words[$2] = class_words[$2] ", ." $i " = true"
    next
}

# ---- mpi_wrap.c.in
file == 3 && /^\/\/@template / { in_template = $2; template[in_template] = ""; next }
file == 3 && /^\/\/@end/ { in_template = ""; next }
file == 3 && in_template != "" { template[in_template] = template[in_template] $0 "\n"; next }
file == 3 && /^\/\/@/ { next_part[++nparts] = $1; text[nparts + 1] = ""; next }
file == 3 { text[nparts + 1] = text[nparts + 1] $0 "\n"; next }

# ---- what MPI's Fortran libraries define
fortran && file == 6 { if ($1 == "library") libraries[++nlibraries] = $2; else has_symbol[$2] = 1; next }

# ---- the header (and mpi_fortran.def, in the same form): collected as statements
/^[ \t]*#/ { next }
{
    gsub(/"([^"\\]|\\.)*"/, "\"\"")  # texts of deprecation attributes may hold ; and brackets
    statement = statement " " $0
    while ((p = index(statement, ";")) > 0) {
        declaration(substr(statement, 1, p - 1))
        statement = substr(statement, p + 1)
    }
}

function without_attributes(s,   p, q, depth, c) {
    while (match(s, /__attribute__ *\(/)) {
        p = RSTART; depth = 0
        for (q = p + RLENGTH - 1; q <= length(s); q++) {
            c = substr(s, q, 1)
            if (c == "(") depth++
            else if (c == ")" && --depth == 0) break
        }
        s = substr(s, 1, p - 1) " " substr(s, q + 1)
    }
    return s
}

function trim(s) { gsub(/[ \t]+/, " ", s); sub(/^ /, "", s); sub(/ $/, "", s); return s }

function declaration(s,   p, name, type, params) {
    if (s !~ /[^A-Za-z0-9_]P?MPI_[A-Z]/ || s ~ /typedef/) return
    s = trim(without_attributes(s))
    sub(/^extern /, "", s)
    if (!match(s, /[ *]P?MPI_[A-Za-z0-9_]+ ?\(/)) return
    type = trim(substr(s, 1, RSTART))
    if (type == "" || type ~ /[(={]/) return
    p = RSTART + RLENGTH
    name = substr(s, RSTART + 1, RLENGTH - 2); sub(/ $/, "", name)
    params = substr(s, p)
    if (params !~ /\)$/) return
    sub(/ ?\)$/, "", params)
    if (name ~ /^PMPI_/) { has_pmpi[substr(name, 2)] = 1; return }
    if (name in ret) return
    ret[name] = type; par[name] = trim(params); names[++nnames] = name
}

# ---- one call

# Splits the parameters of a call into pname[1..n] and pdecl[1..n]; a parameter without a name gets one. Returns n.
function parameters(name,   n, i, s, id) {
    if (par[name] == "void" || par[name] == "") return 0
    if (par[name] ~ /\(/) fail(name ": cannot read its parameters: " par[name])
    n = split(par[name], pdecl, ",")
    for (i = 1; i <= n; i++) {
        if (pdecl[i] !~ /[*\[]/) sub(/^ *const /, "", pdecl[i]) # of the copy that the function gets: ours may be kept in memory
        s = pdecl[i] = trim(pdecl[i])
        while (s ~ /\[[^\]]*\] ?$/) sub(/ ?\[[^\]]*\] ?$/, "", s)
        id = s; sub(/^.*[ *]/, "", id)
        if (id == s || id ~ /^(int|char|void|double|long|const|unsigned|MPI_.*|)$/) {
            id = "ompp_argument" i
            pdecl[i] = s " " id substr(pdecl[i], length(s) + 1)
        }
        pname[i] = id
    }
    return n
}

function find_row(name,   base, i, prefix) {
    if (name in row_of) return row_of[name]
    base = name
    if (sub(/_c$/, "", base) && (base in row_of)) return row_of[base]
    for (i = 1; i <= nrows; i++)
        if (row_name[i] ~ /\*$/) {
            prefix = substr(row_name[i], 1, length(row_name[i]) - 1)
            if (substr(name, 1, length(prefix)) == prefix) return i
        }
    return 0
}

# The C expression of a role in this call: the parameter's name; arrays of counts carry their width.
function expression(role) {
    if (!(role in role_param)) fail(call ": rule " rule " needs role " role)
    if (role == "message") return "ompp_message"
    if (role ~ /counts$/) return "ompp_mpi_counts(" role_param[role] ")"
    if (role ~ /types$/) return "ompp_mpi_types" (fortran ? "_f" : "") "(" role_param[role] ")"
    return fortran ? fortran_value(role) : role_param[role]
}

# What a call tells the clocks' piggybacks: initial values of an ompp_mpi_piggyback_t. Handles and numbers by value, the rest by address.
function piggyback_arguments(class,   s, i, role) {
    s = ".before = " hook(class_before[class], "before") ", .after = " hook(class_after[class], "after") class_words[class]
    s = s ", .fortran = " (fortran ? "true" : "false") ", .comm = " value_or("comm", "MPI_COMM_NULL")
    for (i = 1; i <= nvalues; i++) if (by_value[i] in role_param) s = s ", ." by_value[i] " = " expression(by_value[i])
    for (i = 1; i <= naddresses; i++) if (by_address[i] in role_param) s = s ", ." by_address[i] " = " role_param[by_address[i]]
    if ("request" in role_param) s = s ", .number = 1, .requests = " role_param["request"]
    if (class_colls[class]) {
        s = s ", .order = OMPP_MPI_ORDER_" (rule in order_of ? order_of[rule] : "ALL") ", .refused = " refused()
        s = s (rule in is_even ? ", .even = true" : "") (rule == "none" ? ", .bare = true" : "")
    }
    role = "count" in role_param ? "" : "send"
    if (class_sends[class] && (role "count") in role_param)
        s = s ", .count = " expression(role "count") ", .type = " expression(role "type")
    return s
}
function hook(name, when) { return name == "-" ? "NULL" : "ompp_mpi_" name "_" when }

# Arguments of what is done instead while clocks are suspended.
function suppressed_arguments(name,   s, i, n, list) {
    if (!(name in suppressed_args)) fail("no row: suppressed " name)
    s = "&ompp_suppressed"
    n = split(suppressed_args[name], list, /, */)
    for (i = 1; i <= n; i++) s = s ", " suppressed_argument(list[i])
    return s
}
function suppressed_argument(role) {
    if (role == "requests") return requests_of_call()
    if (role == "number") return value_or("number", "1")
    if (role == "accepted") return "!(" refused() ")"
    if (role != "sendable") return expression(role)
    role = "count" in role_param ? "" : "send"
    return expression(role "count") " >= 0 && ompp_mpi_type_is_known(" expression(role "type") ")"
}

function requests_of_call() { return role_or("requests", role_or("request")) ", " (fortran ? "true" : "false") }

# What a call tells of its message.
function pair_call(class,   s, i, n, list) {
    s = ""
    n = split(pair_args[class], list, /, */)
    for (i = 1; i <= n; i++) s = s (i > 1 ? ", " : "") pair_argument(list[i])
    return "ompp_mpi_pair_" pair_name[class] "(" s ")"
}
function pair_argument(role) {
    if (role == "end") return "ompp_end"
    if (role == "sends" || role == "receives") return role == "sends" ? "true" : "false"
    if (role == "requests") return requests_of_call()
    if (role == "status") return role_or("status") ", " (fortran ? "true" : "false")
    if (role == "to") return "(const int[]){" expression("peer") ", " expression("tag") "}"
    if (role == "from") return "(const int[]){" expression("source") ", " expression("recvtag") "}"
    return expression(role)
}

# Arguments of a collective call that matter on all ranks, and that MPI refuses.
function refused(   s) {
    s = "op" in role_param ? expression("op") " == MPI_OP_NULL" : "false"
    if (!("count" in role_param) || !("type" in role_param)) return s
    return s " || " expression("count") " < 0 || " expression("type") " == MPI_DATATYPE_NULL"
}

function role_or(role, otherwise) { return (role in role_param) ? role_param[role] : otherwise }
function value_or(role, otherwise) { return (role in role_param) ? expression(role) : otherwise }

# Wrapper of a call. symbol: its name for the linker; form: which binding, "" = C.
function expand(name, symbol, form,   n, i, k, roles, r, class, list, body, args, decl, code, counter, keep) {
    call = name
    binding = form
    n = parameters(name)
    r = find_row(name)
    class = r ? row_class[r] : "other"
    rule = r ? row_rule[r] : ""
    if (!(class in class_template) && !(name in template)) fail(name ": no class " class)

    for (k in role_param) delete role_param[k]
    if (rule != "") {
        k = split(row_roles[r], roles, " ")
        if (k != n) fail(name ": " k " roles for " n " arguments")
        for (i = 1; i <= n; i++) if (roles[i] != "-") { role_param[roles[i]] = pname[i]; role_decl[roles[i]] = pdecl[i] }
        if (!(rule in rule_args)) fail(name ": no rule " rule)
    }

    if (fortran) n = fortran_parameters(name, n)
    decl = args = ""
    for (i = 1; i <= n; i++) { decl = decl (i > 1 ? ", " : "") pdecl[i]; args = args (i > 1 ? ", " : "") pname[i] }

    # A class whose calls count something, and a call of it that does not (MPI_Win_fence): only timed.
    body = template[rule == "" && class_template[class] == "counted" ? "timed" : class_template[class]]
    if (name in template) body = template[name]
    else if (fortran && ret[name] != "int" && ret[name] != "void") body = template["function"]
    body = chosen_lines(body, class)
    code = "ompp_mpi_bytes_" rule "(ompp_values"
    k = split(rule == "" ? "" : rule_args[rule], list, /, */)
    for (i = 1; i <= k; i++) code = code ", " expression(list[i])
    code = code ")"

    # The one counter that a call of the class adds one to; OMPP_METRIC_MPI_NUM: none, or several.
    counter = class_sends[class] + class_recvs[class] + class_colls[class] != 1 ? "MPI_NUM" : \
              class_sends[class] ? "SENDS" : class_recvs[class] ? "RECVS" : "COLLS"
    keep = ""
    for (i = 1; i <= n; i++) keep = keep (i > 1 ? " " : "") "OMPP_MPI_KEEP(" pname[i] ");"

    # Longest lines are wrapped by nobody: the file is generated, the template is what people read.
    gsub(/@type@/, fortran && ret[name] == "int" ? "void" : ret[name], body)
    gsub(/@name@/, name, body)
    gsub(/@keep@/, keep, body)
    gsub(/@counter@/, "OMPP_METRIC_" counter, body)
    gsub(/@symbol@/, symbol, body)
    gsub(/@params@/, decl == "" ? "void" : decl, body)
    gsub(/@args@/, args, body)
    gsub(/@more@/, decl == "" ? "" : ", " decl, body)
    gsub(/@more_args@/, args == "" ? "" : ", " args, body)
    gsub(/@rule@/, code, body)
    gsub(/@comm@/, value_or("comm"), body)
    gsub(/@to@/, value_or("peer"), body)
    if (body ~ /@pair@/) gsub(/@pair@/, literal(pair_call(class)), body)
    if (body ~ /@ended@/) gsub(/@ended@/, literal(value_or("number", "1") ", " requests_of_call()), body)
    gsub(/@made@/, (fortran ? value_or("made") : "*" role_or("made")), body)
    gsub(/@base@/, role_or("base"), body)
    gsub(/@freed@/, value_or("freed"), body)
    gsub(/@size@/, value_or("size"), body)
    gsub(/@shared@/, value_or("shared"), body)
    gsub(/@asked@/, role_or("asked"), body)
    gsub(/@message@/, role_or("message"), body)
    gsub(/@request@/, role_or("request"), body)
    gsub(/@number@/, value_or("number", "1"), body)
    gsub(/@requests@/, role_or("requests", role_or("request")), body)
    gsub(/@status@/, role_or("status"), body)
    if (body ~ /@piggyback@/) gsub(/@piggyback@/, literal(piggyback_arguments(class)), body)
    gsub(/@suppressed@/, class_suppressed[class], body)
    if (body ~ /@suppressed_args@/) gsub(/@suppressed_args@/, literal(suppressed_arguments(class_suppressed[class])), body)
    gsub(/@sends@/, class_sends[class], body)
    gsub(/@recvs@/, class_recvs[class], body)
    gsub(/@colls@/, class_colls[class], body)
    printf "%s", body
}
function literal(text) { gsub("&", "\\\\&", text); return text }

# What "//@if" in a template asks of a call: a role, or one of these.
function given(what, class) {
    if (what == "piggyback") return class_before[class] != "-" || class_after[class] != "-"
    if (what == "suppressed") return class_suppressed[class] != "-" && !(rule in order_of)
    if (what == "bytes") return rule != "none"
    if (what == "carried_bytes") return rule != "none" && (rule in is_even || rule in order_of || class == "icoll")
    if (what == "meeting") return class == "coll" && "comm" in role_param
    if (what == "pair") return class in pair_name
    if (what == "sends_to") return class_sends[class] && "peer" in role_param && "comm" in role_param
    if (what == "waits") return class == "wait"
    if (what == "may_end") return class ~ /^(waitany|test|cancel|forget)$/
    if (what == "creates") return class == "created"
    if (what == "memory") return "base" in role_param || "shared" in role_param
    if (what == "window_got") return class == "win-created" && "base" in role_param
    if (what == "window_freed") return class == "win-freed"
    return what in role_param
}

function chosen_lines(body, class,   n, i, lines, out, depth, left_out) {
    n = split(body, lines, "\n")
    for (i = 1; i < n; i++) {
        if (lines[i] == "//@fi") { if (depth-- == left_out) left_out = 0 }
        else if (lines[i] ~ /^\/\/@if /) { depth++; if (!left_out && !given(substr(lines[i], 7), class)) left_out = depth }
        else if (!left_out && (!match(lines[i], / \/\/@if [a-z_]+$/) || given(substr(lines[i], RSTART + 7), class)))
            out = out (RSTART > 0 ? substr(lines[i], 1, RSTART - 1) : lines[i]) "\n"
    }
    if (depth) fail(call ": //@if without //@fi")
    return out
}

# ---- output

function wrapped(name) { return name in has_pmpi }

function sort_names(   i, j, v) {
    for (i = 2; i <= nnames; i++) {
        v = names[i]
        for (j = i - 1; j > 0 && names[j] > v; j--) names[j + 1] = names[j]
        names[j + 1] = v
    }
}

function each(part,   i, class) {
    for (i = 1; i <= nnames; i++) {
        class = row_class[find_row(names[i])]
        if (class == "skip") continue
        if (fortran) { fortran_each(part, names[i]); continue }
        if (!wrapped(names[i])) continue
        if (part == "//@names") print "    \"" names[i] "\","
        else if (class == "hand") continue
        else if (part == "//@weak") print "#undef " names[i] "\n#pragma weak P" names[i]
        else if (part == "//@calls") expand(names[i], names[i], "")
    }
}

END {
    if (failed) exit 1
    if (nnames == 0) fail("no MPI function found in the preprocessed mpi.h")
    sort_names()
    print "/* Generated from mpi_wrap" (fortran ? "_f" : "") ".c.in, mpi_calls.def and the installed MPI by mpi_gen.awk. Do not edit. */"
    for (i = 1; i <= nparts; i++) {
        printf "%s", text[i]
        if (next_part[i] == "//@libraries") fortran_libraries()
        else each(next_part[i])
    }
}
